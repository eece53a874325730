import { setTimeout as delay } from 'node:timers/promises';

const leastIntervalMs = 50;

/**
 * Looks until there is an answer. After a look that took long the next one waits longer: what is waited for shares the machine with it.
 * @param what what is waited for, for the error
 * @throws Error when the time is up
 */
export async function until<T>(what: string, timeoutMs: number, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const lookedAt = performance.now();
    const answer = await look();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await delay(Math.max(leastIntervalMs, performance.now() - lookedAt));
  }
}
