import type { InFlight } from './activityInterfaces.js';
import type { StuckReplacement } from './messages.js';

interface Child extends InFlight {
  /** This run awaits its result; else it is looked up by its workflow id at each look. */
  readonly isAwaited: boolean;
}

function refOf({ nodeClaim, uid }: Child): InFlight {
  return { nodeClaim, uid };
}

/** The replacements that are under way: each holds its permit until its end is known. */
export class RolloutChildren {
  readonly #byUid = new Map<string, Child>();
  /** By the UID of those that got no further at the last look, why. */
  readonly #stuck = new Map<string, string>();
  /** When all are to be looked up, the awaited ones too: a rollout that was reset may never be told how those ended. */
  #lookUpAllAtMs: number | undefined;

  constructor(carried: readonly InFlight[] = []) {
    for (const child of carried) this.adopted(child);
  }

  get inFlight(): readonly InFlight[] {
    return [...this.#byUid.values()].map(refOf);
  }

  get nodeClaims(): readonly string[] {
    return [...this.#byUid.values()].map(({ nodeClaim }) => nodeClaim);
  }

  get uids(): ReadonlySet<string> {
    return new Set(this.#byUid.keys());
  }

  get count(): number {
    return this.#byUid.size;
  }

  get stuck(): readonly StuckReplacement[] {
    return [...this.#byUid.values()].flatMap(({ nodeClaim, uid }) => {
      const why = this.#stuck.get(uid);
      return why === undefined ? [] : [{ nodeClaim, why }];
    });
  }

  /** Some are not awaited by this run: it is never told of their end. */
  get hasStrangers(): boolean {
    return [...this.#byUid.values()].some(({ isAwaited }) => !isAwaited);
  }

  /** Epoch milliseconds; undefined: there is nothing to look up. */
  get lookUpAllAtMs(): number | undefined {
    return this.#byUid.size === 0 ? undefined : this.#lookUpAllAtMs;
  }

  has(uid: string): boolean {
    return this.#byUid.has(uid);
  }

  hasNamed(nodeClaim: string): boolean {
    return this.nodeClaims.includes(nodeClaim);
  }

  /** @returns the child, for isCurrent */
  started({ nodeClaim, uid }: InFlight): InFlight {
    const child: Child = { nodeClaim, uid, isAwaited: true };
    this.#byUid.set(uid, child);
    return child;
  }

  /** Somebody else started it: it holds its permit all the same. */
  adopted({ nodeClaim, uid }: InFlight): void {
    this.#byUid.set(uid, { nodeClaim, uid, isAwaited: false });
  }

  /** Whether this is the child that holds the permit: its end may have been looked up, and a next one started. */
  isCurrent(child: InFlight): boolean {
    return this.#byUid.get(child.uid) === child;
  }

  /** @param stuck why it gets no further; undefined: it does */
  looked(uid: string, stuck: string | undefined): void {
    if (stuck === undefined) this.#stuck.delete(uid);
    else this.#stuck.set(uid, stuck);
  }

  ended(uid: string): void {
    this.#byUid.delete(uid);
    this.#stuck.delete(uid);
  }

  /** All are looked up so long after now, unless that is to happen before anyway. */
  lookUpAllIn(delayMs: number, nowMs: number): void {
    this.#lookUpAllAtMs ??= nowMs + delayMs;
  }

  /** Those whose state the next look at the pool has to ask Temporal for. */
  toLookUp(nowMs: number): readonly InFlight[] {
    const isAllDue = this.#lookUpAllAtMs !== undefined && nowMs >= this.#lookUpAllAtMs;
    if (isAllDue) this.#lookUpAllAtMs = undefined;
    return [...this.#byUid.values()].filter(({ isAwaited }) => isAllDue || !isAwaited).map(refOf);
  }
}
