import { readPaused } from './failures.js';

/**
 * Calls once, and again after each pause by the kill switch.
 * @param call is told how the one before has ended, when the kill switch has stopped it
 * @param untilResumed waits until the switch is off; is told why it is on
 */
export async function untilUnpaused<T>(
  call: (paused: unknown) => Promise<T>,
  untilResumed: (why: string) => Promise<void>,
): Promise<T> {
  let paused: unknown;
  for (;;) {
    try {
      return await call(paused);
    } catch (error) {
      const why = readPaused(error);
      if (why === undefined) throw error;
      paused = error;
      await untilResumed(why);
    }
  }
}

/**
 * The same activities, each of which waits while the kill switch is on and then begins anew, with all of its time: what is spent paused
 * is held against nobody.
 * @param untilResumed waits until the switch is off; is told why it is on
 */
export function resumable<T extends object>(activities: T, untilResumed: (why: string) => Promise<void>): T {
  return new Proxy(activities, {
    get(target, name, receiver) {
      const activity: unknown = Reflect.get(target, name, receiver);
      if (typeof activity !== 'function') return activity;
      return (...args: unknown[]): Promise<unknown> =>
        untilUnpaused(async (): Promise<unknown> => await Reflect.apply(activity, target, args), untilResumed);
    },
  });
}
