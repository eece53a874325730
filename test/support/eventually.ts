import { setTimeout as delay } from 'node:timers/promises';

const leastIntervalMs = 10;
const defaultTimeoutMs = 25_000;

/**
 * Asks again until the probe does not throw, and answers what it answered; throws its last error when time is up. After a probe that
 * took long the next one waits longer: what is waited for shares the machine with it.
 */
export async function eventually<T>(probe: () => T | Promise<T>, timeoutMs = defaultTimeoutMs): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const askedAtMs = performance.now();
    try {
      return await probe();
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
    }
    await delay(Math.max(leastIntervalMs, performance.now() - askedAtMs));
  }
}
