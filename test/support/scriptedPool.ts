import { ApplicationFailure } from '@temporalio/common';

import { until } from '../../demo/until.js';
import { describeChildren } from '../../activities/temporal/children.js';
import type { Candidate } from '../../karpenter/candidate.js';
import type { ObservePoolInput, PoolObservation } from '../../workflows/activityInterfaces.js';
import type { RolloutSettings } from '../../workflows/settings.js';
import { failureTypes } from '../../workflows/failures.js';
import { everythingGoesWell } from './fakeActivities.js';
import type { Gate } from './gate.js';
import { replacementSettings, uidOf } from './replacements.js';
import type { TestWorker } from './testWorker.js';

const timeoutMs = 30_000;

/** One look at the pool: what the rollout said, and what it was told. */
export interface Look {
  readonly input: ObservePoolInput;
  readonly observation: PoolObservation;
  readonly atMs: number;
}

/** A NodePool by script: what is in it is to be replaced, as many at once as the budget says. Children are described for real. */
export class ScriptedPool {
  /** How many nodes may be disrupted at once. */
  budget = 10;
  settings: RolloutSettings = {
    quietMs: 600_000,
    childCheckMs: 600_000,
    lookAgainMs: 600_000,
    backoffMs: 600_000,
    backoffMaxMs: 600_000,
    haltAfterFailures: 100,
  };
  /** Holds back the answer of every look while it is there. */
  gate: Gate | undefined;
  /** Every look so far. */
  readonly looks: Look[] = [];
  readonly #drifted = new Map<string, Candidate>();
  readonly #tainted = new Set<string>();
  readonly #atPeace = new Set<string>();

  /** Takes over observePool and findNodeClaim of this pool's fakes; a node whose deletion begins is in the pool no more. */
  constructor(
    private readonly worker: TestWorker,
    readonly nodePool: string,
  ) {
    const { does } = worker.fakesOf(nodePool);
    does.observePool = (input) => this.#observe(input);
    does.findNodeClaim = ({ nodeClaim }) => {
      const uid = uidOf(nodeClaim);
      if (this.#has(uid)) return Promise.resolve({ nodeClaim, uid });
      return Promise.reject(
        ApplicationFailure.nonRetryable(`no NodeClaim ${nodeClaim}`, failureTypes.unknownNodeClaim),
      );
    };
    does.beginDeletion = async (ref, launch) => {
      this.#drifted.delete(ref.uid);
      return await everythingGoesWell().beginDeletion(ref, launch);
    };
  }

  /** Adds nodes that are to be replaced. */
  drift(...nodeClaims: readonly string[]): void {
    for (const nodeClaim of nodeClaims) this.disrupt(nodeClaim, 'Drifted', 'ImageDrift');
  }

  /** Adds a node that is to be replaced for some other reason. */
  disrupt(nodeClaim: string, reason: string, reasonDetail: string): void {
    const uid = uidOf(nodeClaim);
    const since = '2026-01-01T00:00:00Z';
    const candidate = { nodeClaim, uid, node: `node-${nodeClaim}`, reason, reasonDetail };
    this.#drifted.set(uid, { ...candidate, since, isEmpty: false, carriesControlPlane: false });
  }

  /** Adds nodes that are not to be replaced. */
  settleIn(...nodeClaims: readonly string[]): void {
    for (const nodeClaim of nodeClaims) this.#atPeace.add(uidOf(nodeClaim));
  }

  #has(uid: string): boolean {
    return this.#drifted.has(uid) || this.#atPeace.has(uid);
  }

  /** A node is being replaced, as its taint shows: it is no candidate. */
  taint(nodeClaim: string): void {
    this.#tainted.add(uidOf(nodeClaim));
  }

  /** A node is gone. */
  settle(nodeClaim: string): void {
    this.#drifted.delete(uidOf(nodeClaim));
    this.#atPeace.delete(uidOf(nodeClaim));
  }

  /** Waits for the pool to have been looked at so many times; answers the last of these looks. */
  async observed(times: number): Promise<Look> {
    return await until(`${times} looks at ${this.nodePool}`, timeoutMs, () => Promise.resolve(this.looks[times - 1]));
  }

  /** Waits for a look at which the rollout said what is asked for; answers the first one. */
  async seen(isIt: (input: ObservePoolInput) => boolean): Promise<Look> {
    return await until(`a certain look at ${this.nodePool}`, timeoutMs, () =>
      Promise.resolve(this.looks.find(({ input }) => isIt(input))),
    );
  }

  async #observe(input: ObservePoolInput): Promise<PoolObservation> {
    const { workflows, cluster } = this.worker;
    const candidates = [...this.#drifted.values()];
    const asked = input.discover ? [...input.describe, ...candidates] : input.describe;
    const described = await describeChildren(workflows, cluster, asked);
    const known = new Set(input.describe.map(({ uid }) => uid));
    const inFlight = new Set(input.inFlight);
    const named = new Set([...input.first, ...input.last, ...input.held]);
    const rank = ({ uid }: Candidate): number => (input.first.includes(uid) ? 0 : input.last.includes(uid) ? 2 : 1);
    const line = candidates
      .filter(({ nodeClaim, uid }) => !inFlight.has(nodeClaim) && !input.held.includes(uid) && !this.#tainted.has(uid))
      .sort((a, b) => rank(a) - rank(b));
    const permits = Math.max(0, this.budget - inFlight.size);
    const observation: PoolObservation = {
      admission: {
        nodes: candidates.length,
        disrupted: inFlight.size,
        disruptedByOthers: 0,
        allowances: [{ reason: 'Drifted', allowed: this.budget, bindingBudget: 0 }],
        budgetErrors: [],
        nextChangeMs: null,
        nextLookMs: null,
        start: line.slice(0, permits),
        waiting: { count: Math.max(0, line.length - permits), first: line.slice(permits) },
        blocked: { count: 0, first: [] },
        phases: { count: 0, first: [] },
        markChanges: 0,
        isCapped: false,
        closed: null,
      },
      settled: [...named].filter((uid) => !this.#drifted.has(uid)),
      gone: [...named].filter((uid) => !this.#has(uid)),
      children: described.filter(({ uid, status }) => known.has(uid) || status === 'running'),
      settings: { rollout: this.settings, replacement: replacementSettings },
    };
    this.looks.push({ input, observation, atMs: Date.now() });
    await this.gate?.opened;
    return observation;
  }
}
