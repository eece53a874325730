import type { Taint } from '../../karpenter/api.js';
import { isTrue } from '../../karpenter/conditions.js';
import { hasLabels, meetsRequirement } from './labelMatching.js';
import type { Node, NodeSelectorTerm, Pod, Toleration } from './objects.js';
import type { Resources, SchedulingUsage } from './schedulingUsage.js';
import { podRequests } from './schedulingUsage.js';

export type Decision =
  { readonly kind: 'bind'; readonly nodeName: string } | { readonly kind: 'unschedulable'; readonly message: string };

function tolerates({ key, operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== '' && effect !== taint.effect) return false;
  if (operator === 'Exists') return key === undefined || key === '' || key === taint.key;
  return key === taint.key && value === (taint.value ?? '');
}

function untoleratedTaints(pod: Pod, node: Node, effects: readonly string[]): readonly Taint[] {
  const tolerations = pod.spec.tolerations ?? [];
  return (node.spec?.taints ?? []).filter(
    (taint) => effects.includes(taint.effect) && !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

function matchesTerm(node: Node, { matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean {
  // An empty term matches no node.
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields = { 'metadata.name': node.metadata.name };
  return (
    matchExpressions.every((requirement) => meetsRequirement(node.metadata.labels ?? {}, requirement)) &&
    matchFields.every((requirement) => meetsRequirement(fields, requirement))
  );
}

function matchesAffinity(pod: Pod, node: Node): boolean {
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return (
    hasLabels(node.metadata.labels ?? {}, pod.spec.nodeSelector ?? {}) &&
    (required === undefined || required.nodeSelectorTerms.some((term) => matchesTerm(node, term)))
  );
}

/** Why the pod cannot run on the node, in the scheduler's words; nothing when it can. */
function obstacles(pod: Pod, requests: Resources, node: Node, usage: SchedulingUsage): readonly string[] {
  if (node.spec?.unschedulable === true) return ['node(s) were unschedulable'];
  if (!isTrue(node, 'Ready')) return ['node(s) were not ready'];
  const [taint] = untoleratedTaints(pod, node, ['NoSchedule', 'NoExecute']);
  if (taint !== undefined) return [`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`];
  if (!matchesAffinity(pod, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  const offered = usage.offeredBy(node);
  const used = usage.usedOn(node.metadata.name);
  return [
    ...(used.pods + requests.pods > offered.pods ? ['Too many pods'] : []),
    ...(requests.cpuMillis > 0 && used.cpuMillis + requests.cpuMillis > offered.cpuMillis ? ['Insufficient cpu'] : []),
    ...(requests.memoryBytes > 0 && used.memoryBytes + requests.memoryBytes > offered.memoryBytes
      ? ['Insufficient memory']
      : []),
  ];
}

/** The mean share of cpu and memory that is taken. */
function allocatedShare(node: Node, usage: SchedulingUsage): number {
  const offered = usage.offeredBy(node);
  const used = usage.usedOn(node.metadata.name);
  const share = (taken: number, of: number): number => (of > 0 ? taken / of : 1);
  return (share(used.cpuMillis, offered.cpuMillis) + share(used.memoryBytes, offered.memoryBytes)) / 2;
}

interface Feasible {
  readonly nodeName: string;
  readonly avoidance: number;
  readonly allocated: number;
}

function compareFeasible(a: Feasible, b: Feasible): number {
  if (a.avoidance !== b.avoidance) return a.avoidance - b.avoidance;
  if (a.allocated !== b.allocated) return a.allocated - b.allocated;
  return a.nodeName < b.nodeName ? -1 : 1;
}

function unschedulableMessage(nodeCount: number, counts: ReadonlyMap<string, number>): string {
  if (nodeCount === 0) return 'no nodes available to schedule pods';
  const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodeCount} nodes are available: ${reasons.join(', ')}.`;
}

/** The node for a pod: among those where it can run the fewest PreferNoSchedule taints, then the least allocated, then by name. */
export function decide(pod: Pod, nodes: readonly Node[], usage: SchedulingUsage): Decision {
  const requests = podRequests(pod);
  const counts = new Map<string, number>();
  let best: Feasible | undefined;
  for (const node of nodes) {
    const nodeName = node.metadata.name;
    const found = obstacles(pod, requests, node, usage);
    for (const obstacle of found) counts.set(obstacle, (counts.get(obstacle) ?? 0) + 1);
    if (found.length > 0) continue;
    const avoidance = untoleratedTaints(pod, node, ['PreferNoSchedule']).length;
    const feasible = { nodeName, avoidance, allocated: allocatedShare(node, usage) };
    if (best === undefined || compareFeasible(feasible, best) < 0) best = feasible;
  }
  return best === undefined
    ? { kind: 'unschedulable', message: unschedulableMessage(nodes.length, counts) }
    : { kind: 'bind', nodeName: best.nodeName };
}
