import { readPaused } from './failures.js';

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
      return async (...args: unknown[]): Promise<unknown> => {
        for (;;) {
          try {
            return await Reflect.apply(activity, target, args);
          } catch (error) {
            const why = readPaused(error);
            if (why === undefined) throw error;
            await untilResumed(why);
          }
        }
      };
    },
  });
}
