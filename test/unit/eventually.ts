const probeIntervalMs = 2;

/** Asks again until the probe does not throw; throws its last error when time is up. */
export async function eventually(probe: () => void, timeoutMs = 5_000): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      probe();
      return;
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, probeIntervalMs));
  }
}
