import type { Candidate } from '../karpenter/candidate.js';
import type { InFlight } from './activityInterfaces.js';
import type { Replaced, RolloutFailure, RolloutResult } from './messages.js';
import type { ReplacementResult } from './replacementTypes.js';

export interface CarriedOutcomes {
  readonly failures: readonly RolloutFailure[];
  readonly replaced: readonly Replaced[];
  readonly notNeeded: RolloutResult['notNeeded'];
}

/** How the replacements of a rollout have ended, and which of those that failed are not settled yet. */
export class RolloutOutcomes {
  readonly #failures = new Map<string, RolloutFailure>();
  readonly #replaced: Replaced[];
  readonly #notNeeded: RolloutResult['notNeeded'][number][];
  /** By the UID of those that this run has started. */
  readonly #reasons = new Map<string, Pick<Candidate, 'reason' | 'reasonDetail'>>();

  constructor(carried: CarriedOutcomes | undefined) {
    for (const failure of carried?.failures ?? []) this.#failures.set(failure.uid, failure);
    this.#replaced = [...(carried?.replaced ?? [])];
    this.#notNeeded = [...(carried?.notNeeded ?? [])];
  }

  /** Unsettled ones, oldest first. */
  get failures(): readonly RolloutFailure[] {
    return [...this.#failures.values()];
  }

  /** How often the replacement of this NodeClaim was begun before. */
  rounds(uid: string): number {
    return this.#failures.get(uid)?.rounds ?? 0;
  }

  /** Keeps why it was begun, for the record of a failure. */
  began({ uid, reason, reasonDetail }: Candidate): void {
    this.#reasons.set(uid, { reason, reasonDetail });
  }

  replaced(uid: string, result: Extract<ReplacementResult, { kind: 'replaced' }>): void {
    this.settled(uid);
    const { nodeClaim, replacement, reason, reasonDetail, launchFailures } = result;
    this.#replaced.push({ nodeClaim, replacement, reason, reasonDetail, launchFailures });
  }

  /** @returns whether it was not needed before */
  notNeeded(uid: string, { nodeClaim, why }: Extract<ReplacementResult, { kind: 'notNeeded' }>): boolean {
    this.settled(uid);
    const isAgain = this.#notNeeded.some((other) => other.nodeClaim === nodeClaim);
    if (!isAgain) this.#notNeeded.push({ nodeClaim, why });
    return isAgain;
  }

  /** @param failure held: it is not begun again before a person says so */
  failed(
    { nodeClaim, uid }: InFlight,
    failure: Pick<RolloutFailure, 'code' | 'message' | 'held'>,
    nowMs: number,
  ): void {
    const { code, message, held } = failure;
    const rounds = this.rounds(uid) + 1;
    const reason = this.#reasons.get(uid) ?? {};
    const at = new Date(nowMs).toISOString();
    this.#failures.set(uid, { nodeClaim, uid, ...reason, code, message, at, rounds, held });
  }

  /** A person wants it begun again. */
  releaseHeld(uid: string): void {
    const failure = this.#failures.get(uid);
    if (failure !== undefined) this.#failures.set(uid, { ...failure, held: false });
  }

  /** Nothing asks for its replacement any more. */
  settled(uid: string): void {
    this.#failures.delete(uid);
  }

  carry(): CarriedOutcomes {
    return { failures: this.failures, replaced: this.#replaced, notNeeded: this.#notNeeded };
  }
}
