/** What ARM counts and throttles apart, as far as we ask for it. */
export type RequestKind =
  | 'createVirtualMachine'
  | 'readVirtualMachine'
  | 'deleteVirtualMachine'
  | 'readPart'
  | 'deletePart'
  | 'list'
  | 'readOperation';

/** Bounds of a throttle, in milliseconds. */
export interface ThrottleBounds {
  /** The first wait where ARM names none; doubles with each refusal in a row. */
  readonly firstMs: number;
  /** What that doubles up to. */
  readonly lastMs: number;
  /** The most of a Retry-After that is honoured. */
  readonly longestMs: number;
}

interface Closure {
  readonly untilMs: number;
  readonly forMs: number;
  readonly refusals: number;
}

/** Those that were held back come again within this part of the time after it: not all at once. */
const spread = 0.25;

/**
 * What a 429 says to one it says to all: until its time has passed no request of that kind is sent, since one that is refused keeps
 * the throttle alive. Each process has its own.
 */
export class Throttle {
  readonly #closures = new Map<RequestKind, Closure>();

  constructor(private readonly bounds: ThrottleBounds) {}

  /** In how many milliseconds to come again; undefined: such a request may be sent now. */
  waitMs(kind: RequestKind): number | undefined {
    const closure = this.#closures.get(kind);
    const leftMs = (closure?.untilMs ?? 0) - Date.now();
    return closure === undefined || leftMs <= 0 ? undefined : leftMs + closure.forMs * spread * Math.random();
  }

  /** ARM has answered 429. */
  close(kind: RequestKind, retryAfterMs: number | undefined): void {
    const { firstMs, lastMs, longestMs } = this.bounds;
    const before = this.#closures.get(kind);
    // What was under way when the throttle closed is refused with it: that is one refusal, not several.
    const isClosed = before !== undefined && before.untilMs > Date.now();
    const refusals = (before?.refusals ?? 0) + (isClosed ? 0 : 1);
    const ownMs = Math.min(firstMs * 2 ** (refusals - 1), lastMs);
    const forMs = Math.min(retryAfterMs ?? ownMs, longestMs);
    const untilMs = Date.now() + forMs;
    this.#closures.set(kind, isClosed && before.untilMs > untilMs ? before : { untilMs, forMs, refusals });
  }

  /** ARM has answered something else: the next refusal is the first of its row. */
  answered(kind: RequestKind): void {
    const closure = this.#closures.get(kind);
    if (closure !== undefined) this.#closures.set(kind, { ...closure, refusals: 0 });
  }
}
