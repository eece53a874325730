import { ApplicationFailure } from '@temporalio/common';

import { describeChildren } from '../../activities/temporal/children.js';
import { admit } from '../../karpenter/admission.js';
import { reportAdmission } from '../../karpenter/admissionReport.js';
import type { Budget } from '../../karpenter/api.js';
import type { Machine } from '../../karpenter/pool.js';
import type { ObservePoolInput, PoolObservation } from '../../workflows/activityInterfaces.js';
import type { RolloutSettings } from '../../workflows/settings.js';
import { admissionInputOf, machineOf, poolName, poolOf } from '../unit/poolFixture.js';
import { Gate } from './gate.js';
import { replacementSettings, uidOf } from './replacements.js';
import type { TestWorker } from './testWorker.js';

/** Longer than any test. */
const foreverMs = 600_000;
const driftedFromMs = Date.UTC(2026, 0, 1);

/** One begin of a replacement. */
export interface Start {
  readonly nodeClaim: string;
  readonly round: number;
  readonly atMs: number;
}

/** How replacements go on. */
export interface Course {
  /** Is at work until the test lets it end. Default: every one. */
  readonly isHeld?: (start: Start) => boolean;
  /** Default: none. */
  readonly fails?: (start: Start) => boolean;
}

/** One look at the pool. */
export interface AdmittedLook {
  readonly atMs: number;
  readonly input: ObservePoolInput;
  readonly observation: PoolObservation;
}

/**
 * A NodePool of drifted machines, looked at with the real admission, that change as their replacements end. A replacement is at work
 * from its begin, in `followDeletion`, to its end.
 */
export class AdmittedPool {
  settings: RolloutSettings = {
    quietMs: 50,
    childCheckMs: foreverMs,
    lookAgainMs: foreverMs,
    backoffMs: 1,
    backoffMaxMs: 1,
    haltAfterFailures: 1_000,
  };
  /** Every look so far. */
  readonly looks: AdmittedLook[] = [];
  /** Every begin of a replacement so far. */
  readonly starts: Start[] = [];
  /** NodeClaims whose replacements ended, well or not, in order. */
  readonly ended: string[] = [];
  /** The most replacements that were at work at one instant. */
  mostAtWork = 0;
  readonly #machines: Map<string, Machine>;
  readonly #atWork = new Map<string, Gate>();
  #isOpen = false;

  /** @param names of its NodeClaims, the one that has drifted first at the head */
  constructor(
    private readonly worker: TestWorker,
    names: readonly string[],
    private readonly budgets: readonly Budget[],
    private readonly course: Course = {},
  ) {
    this.#machines = new Map(
      names.map((name, index) => [
        name,
        machineOf(name, { driftedSince: new Date(driftedFromMs + index).toISOString() }),
      ]),
    );
    const { does } = worker.fakesOf(poolName);
    does.observePool = (input) => this.#observe(input);
    does.followDeletion = ({ nodeClaim, round }) => this.#replace({ nodeClaim, round, atMs: Date.now() });
  }

  /** NodeClaims whose replacements are at work, the oldest first. */
  get atWork(): readonly string[] {
    return [...this.#atWork.keys()];
  }

  /** Lets replacements end. */
  end(nodeClaims: readonly string[]): void {
    for (const nodeClaim of nodeClaims) this.#atWork.get(nodeClaim)?.open();
  }

  /** Lets all of them end, and those that begin from now on at once. */
  endAll(): void {
    this.#isOpen = true;
    this.end(this.atWork);
  }

  /** A person stops a replacement: it is at work no more. */
  forget(nodeClaim: string): void {
    this.#atWork.delete(nodeClaim);
  }

  async #replace(start: Start): Promise<void> {
    const { nodeClaim } = start;
    // A local activity may be made again when a busy worker is late.
    if (!this.#machines.has(nodeClaim)) return;
    const gate = new Gate();
    const { isHeld = () => true, fails = () => false } = this.course;
    if (this.#isOpen || !isHeld(start)) gate.open();
    this.starts.push(start);
    this.#atWork.set(nodeClaim, gate);
    this.mostAtWork = Math.max(this.mostAtWork, this.#atWork.size);
    await gate.opened;
    this.#atWork.delete(nodeClaim);
    this.ended.push(nodeClaim);
    if (fails(start)) throw ApplicationFailure.nonRetryable('no room', 'AllocationFailed');
    this.#machines.delete(nodeClaim);
    this.#machines.set(`new-${nodeClaim}`, machineOf(`new-${nodeClaim}`));
  }

  async #observe(input: ObservePoolInput): Promise<PoolObservation> {
    const { workflows, cluster } = this.worker;
    const children = await describeChildren(workflows, cluster, input.describe);
    const pool = poolOf([...this.#machines.values()], { budgets: this.budgets });
    const atMs = Date.now();
    const inFlight = new Set(input.inFlight);
    const admission = admit(
      pool,
      admissionInputOf(atMs, {
        inFlight,
        first: new Set(input.first),
        last: new Set(input.last),
        held: new Set(input.held),
      }),
    );
    const present = new Set([...this.#machines.keys()].map(uidOf));
    // Whoever has drifted stays so until it is gone.
    const gone = [...input.first, ...input.last, ...input.held].filter((uid) => !present.has(uid));
    const observation: PoolObservation = {
      admission: reportAdmission(admission, inFlight),
      settled: gone,
      gone,
      children,
      settings: { rollout: this.settings, replacement: replacementSettings },
    };
    this.looks.push({ atMs, input, observation });
    return observation;
  }
}
