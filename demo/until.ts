import { setTimeout as delay } from 'node:timers/promises';

const intervalMs = 50;

/**
 * Looks until there is an answer.
 * @param what what is waited for, for the error
 * @throws Error when the time is up
 */
export async function until<T>(what: string, timeoutMs: number, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await look();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await delay(intervalMs);
  }
}
