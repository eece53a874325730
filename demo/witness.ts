import type { Node, NodeClaim } from '../karpenter/api.js';
import { conditionTypes, getCondition, isTrue } from '../karpenter/conditions.js';
import { disruptedTaint, initializedLabel, nodePoolLabel, replacesAnnotation } from '../karpenter/labels.js';
import { virtualMachineName } from '../karpenter/replacement.js';
import type { AzureAuditEntry } from '../simulator/azure/audit.js';
import type { ClusterFact } from './clusterFacts.js';
import type { LaunchFailureReport, TimelinePoint } from './report.js';

/** What Azure's audit log and the facts of a cluster show of one rollout. Instants are wall-clock milliseconds. */
export interface Testimony {
  /** One point for each instant at which a number changed. */
  readonly points: readonly (TimelinePoint & { readonly at: number })[];
  readonly createMsMax: number;
  readonly lastPermitFreeAt: number | undefined;
  readonly launchFailures: readonly LaunchFailureReport[];
  readonly evictedPods: number;
  readonly podsMovedTwice: number;
  readonly pendingPodMs: number;
}

interface Failure {
  readonly nodeClaim: string;
  readonly code: string;
  readonly armFailedAt: number;
  markedAt: number | null;
  removedAt: number | null;
}

type Line =
  { readonly at: number; readonly azure: AzureAuditEntry } | { readonly at: number; readonly fact: ClusterFact };

/**
 * Replays the two in order and counts for itself: it shares the definitions of the design with the service, but not its
 * bookkeeping.
 */
export class Witness {
  readonly #nodeClaims = new Map<string, NodeClaim>();
  readonly #nodes = new Map<string, Node>();
  readonly #creating = new Set<string>();
  readonly #replaced = new Set<string>();
  readonly #claimedAt = new Map<string, number>();
  readonly #failures = new Map<string, Failure>();
  readonly #podCreatedAt = new Map<string, number>();
  readonly #points: (TimelinePoint & { at: number })[] = [];
  #createMsMax = 0;
  #evictedPods = 0;
  #podsMovedTwice = 0;
  #pendingPodMs = 0;
  #lastPermitFreeAt: number | undefined;

  private constructor(
    private readonly nodePool: string,
    private readonly driftAt: number,
  ) {}

  /** @param driftAt wall-clock milliseconds: nothing before it is counted */
  static hear(
    nodePool: string,
    driftAt: number,
    azure: readonly AzureAuditEntry[],
    cluster: readonly ClusterFact[],
  ): Testimony {
    const lines: Line[] = azure.map((entry) => ({ at: entry.at, azure: entry }));
    for (const fact of cluster) lines.push({ at: fact.at, fact });
    lines.sort((a, b) => a.at - b.at);
    const witness = new Witness(nodePool, driftAt);
    for (const line of lines) {
      if ('azure' in line) witness.#hearAzure(line.azure);
      else witness.#hearCluster(line.fact);
      if (line.at >= driftAt) witness.#count(line.at);
    }
    return witness.#testimony();
  }

  #hearAzure(entry: AzureAuditEntry): void {
    if (entry.kind !== 'operation' || entry.operation !== 'create') return;
    const { virtualMachine, phase, at } = entry;
    if (phase === 'started') {
      this.#creating.add(virtualMachine);
      return;
    }
    this.#creating.delete(virtualMachine);
    if (phase === 'succeeded') return;
    const nodeClaim =
      [...this.#nodeClaims.keys()].find((name) => virtualMachineName(name) === virtualMachine) ?? virtualMachine;
    this.#failures.set(nodeClaim, {
      nodeClaim,
      code: entry.code ?? '',
      armFailedAt: at,
      markedAt: null,
      removedAt: null,
    });
  }

  #hearCluster(fact: ClusterFact): void {
    switch (fact.kind) {
      case 'nodeClaim':
        this.#hearNodeClaim(fact.nodeClaim, fact.at, fact.isGone);
        return;
      case 'node':
        if (fact.isGone) this.#nodes.delete(fact.node.metadata.name);
        else this.#nodes.set(fact.node.metadata.name, fact.node);
        return;
      case 'podCreated':
        if (fact.at >= this.driftAt) this.#podCreatedAt.set(fact.pod, fact.at);
        return;
      case 'podBound':
        this.#pendingPodMs += fact.at - (this.#podCreatedAt.get(fact.pod) ?? fact.at);
        return;
      case 'podEvicted':
        this.#evictedPods += 1;
        // A pod that was made after the drift has moved once already.
        if (this.#podCreatedAt.has(fact.pod)) this.#podsMovedTwice += 1;
    }
  }

  #hearNodeClaim(nodeClaim: NodeClaim, at: number, isGone: boolean): void {
    const { name, uid, labels } = nodeClaim.metadata;
    if (labels?.[nodePoolLabel] !== this.nodePool) return;
    const before = this.#nodeClaims.get(name);
    if (before === undefined) this.#claimedAt.set(name, at);
    if (isLaunched(nodeClaim) && (before === undefined || !isLaunched(before)) && at >= this.driftAt) {
      this.#createMsMax = Math.max(this.#createMsMax, at - (this.#claimedAt.get(name) ?? at));
    }
    const failure = this.#failures.get(name);
    if (failure !== undefined) {
      if (getCondition(nodeClaim, conditionTypes.launched)?.status === 'False') failure.markedAt ??= at;
      if (isGone) failure.removedAt ??= at;
    }
    if (isTrue(nodeClaim, conditionTypes.instanceTerminating) && !this.#replaced.has(uid) && this.#isReplaced(uid)) {
      this.#replaced.add(uid);
      this.#lastPermitFreeAt = at;
    }
    if (isGone) this.#nodeClaims.delete(name);
    else this.#nodeClaims.set(name, nodeClaim);
  }

  #isReplaced(uid: string): boolean {
    return [...this.#nodeClaims.values()].some(
      (other) => other.metadata.annotations?.[replacesAnnotation] === uid && isTrue(other, conditionTypes.initialized),
    );
  }

  #count(at: number): void {
    const point = { at, t: 0, inFlight: this.#inFlight(), disrupted: this.#disrupted(), replaced: this.#replaced.size };
    const last = this.#points.at(-1);
    const isSame =
      last?.inFlight === point.inFlight && last.disrupted === point.disrupted && last.replaced === point.replaced;
    if (!isSame) this.#points.push(point);
  }

  /** VM creates in flight, or replacements not yet Initialized; one that has failed is neither. */
  #inFlight(): number {
    const names = new Set(this.#creating);
    for (const [name, nodeClaim] of this.#nodeClaims) {
      const isReplacement = nodeClaim.metadata.annotations?.[replacesAnnotation] !== undefined;
      const hasFailed = getCondition(nodeClaim, conditionTypes.launched)?.status === 'False';
      const isLeaving = nodeClaim.metadata.deletionTimestamp !== undefined;
      if (isReplacement && !hasFailed && !isLeaving && !isTrue(nodeClaim, conditionTypes.initialized)) {
        names.add(virtualMachineName(name));
      }
    }
    return names.size;
  }

  #disrupted(): number {
    let disrupted = 0;
    for (const nodeClaim of this.#nodeClaims.values()) {
      if (isTrue(nodeClaim, conditionTypes.instanceTerminating)) continue;
      const node = this.#nodes.get(nodeClaim.status?.nodeName ?? '');
      if (node?.metadata.labels?.[initializedLabel] !== 'true') continue;
      const isTainted = node.spec?.taints?.some(({ key }) => key === disruptedTaint) ?? false;
      const isReady = getCondition(node, conditionTypes.ready)?.status === 'True';
      const isLeaving =
        nodeClaim.metadata.deletionTimestamp !== undefined || node.metadata.deletionTimestamp !== undefined;
      if (isTainted || !isReady || isLeaving) disrupted += 1;
    }
    return disrupted;
  }

  #testimony(): Testimony {
    return {
      points: this.#points,
      createMsMax: this.#createMsMax,
      lastPermitFreeAt: this.#lastPermitFreeAt,
      launchFailures: [...this.#failures.values()],
      evictedPods: this.#evictedPods,
      podsMovedTwice: this.#podsMovedTwice,
      pendingPodMs: this.#pendingPodMs,
    };
  }
}

function isLaunched(nodeClaim: NodeClaim): boolean {
  return nodeClaim.status?.providerID !== undefined && isTrue(nodeClaim, conditionTypes.launched);
}
