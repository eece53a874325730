const probeIntervalMs = 10;
const defaultTimeoutMs = 25_000;

/** Asks again until the probe does not throw, and answers what it answered; throws its last error when time is up. */
export async function eventually<T>(probe: () => T | Promise<T>, timeoutMs = defaultTimeoutMs): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await probe();
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, probeIntervalMs));
  }
}
