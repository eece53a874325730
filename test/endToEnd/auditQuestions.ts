import { readClusterFact } from '../../demo/clusterFacts.js';
import { conditionTypes, isTrue } from '../../karpenter/conditions.js';
import { replacesAnnotation } from '../../karpenter/labels.js';
import type { NodeClaim } from '../../karpenter/api.js';
import { virtualMachineName } from '../../karpenter/replacement.js';
import type { AzureSimulator } from '../../simulator/azure/azureSimulator.js';
import type { ClusterSimulator } from '../../simulator/cluster/clusterSimulator.js';

/** Questions to the simulators' audit logs: the witness of the end-to-end tests. */

/** When each VM's PUT came, wall-clock milliseconds, oldest first. */
export function putsAt({ audit }: AzureSimulator): number[] {
  return audit.entries
    .filter((entry) => entry.kind === 'request' && entry.method === 'PUT')
    .map((entry) => entry.at - ('durationMs' in entry ? entry.durationMs : 0));
}

/** Names of the VMs that were asked for by PUT, once for each request. */
export function putNames({ audit }: AzureSimulator): string[] {
  return audit.entries.flatMap((entry) =>
    entry.kind === 'request' && entry.method === 'PUT' && entry.virtualMachine !== undefined
      ? [entry.virtualMachine]
      : [],
  );
}

/** Names of the VMs whose deletion began, once for each operation. */
export function deleteNames({ audit }: AzureSimulator): string[] {
  return audit.entries.flatMap((entry) =>
    entry.kind === 'operation' && entry.operation === 'delete' && entry.phase === 'started'
      ? [entry.virtualMachine]
      : [],
  );
}

/** How many VMs there were at the most at any instant. */
export function mostVirtualMachines({ audit }: AzureSimulator): number {
  let now = 0;
  let most = 0;
  for (const entry of audit.entries) {
    if (entry.kind !== 'resource' || entry.type !== 'virtualMachine') continue;
    now += entry.change === 'created' ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}

/** When the first create operation ended. */
export function firstCreateEndAt({ audit }: AzureSimulator): number {
  const end = audit.entries.find(
    (entry) => entry.kind === 'operation' && entry.operation === 'create' && entry.phase !== 'started',
  );
  return end?.at ?? Infinity;
}

/** Pauses between two reads of the same operation, in milliseconds. */
export function pausesBetweenPolls({ audit }: AzureSimulator): number[] {
  const lastAt = new Map<string, number>();
  const pauses: number[] = [];
  for (const entry of audit.entries) {
    if (entry.kind !== 'request' || entry.method !== 'GET' || !entry.path.toLowerCase().includes('/operations/'))
      continue;
    const before = lastAt.get(entry.path);
    if (before !== undefined) pauses.push(entry.at - before);
    lastAt.set(entry.path, entry.at);
  }
  return pauses;
}

/** Evictions from a node whose replacement was not Initialized at that instant: there must be none. */
export function prematureEvictions({ audit }: ClusterSimulator): string[] {
  const nodeClaims = new Map<string, NodeClaim>();
  const nodeOfPod = new Map<string, string>();
  const found: string[] = [];
  for (const entry of audit.entries) {
    const fact = readClusterFact(entry);
    const pod = `${entry.namespace ?? ''}/${entry.name ?? ''}`;
    if (fact?.kind === 'nodeClaim') nodeClaims.set(fact.nodeClaim.metadata.name, fact.nodeClaim);
    if (fact?.kind === 'podBound') nodeOfPod.set(pod, nodeNameOf(entry.object) ?? '');
    if (fact?.kind !== 'podEvicted') continue;
    const node = nodeOfPod.get(pod);
    const old = [...nodeClaims.values()].find(({ metadata }) => virtualMachineName(metadata.name) === node);
    const isReplaced = [...nodeClaims.values()].some(
      (other) =>
        other.metadata.annotations?.[replacesAnnotation] === old?.metadata.uid &&
        isTrue(other, conditionTypes.initialized),
    );
    if (old === undefined || !isReplaced) found.push(`${pod} on ${String(node)}`);
  }
  return found;
}

function nodeNameOf(object: unknown): string | undefined {
  if (typeof object !== 'object' || object === null) return undefined;
  const spec: unknown = Reflect.get(object, 'spec');
  const target: unknown = Reflect.get(object, 'target');
  const holder = spec ?? target;
  if (typeof holder !== 'object' || holder === null) return undefined;
  const name: unknown = Reflect.get(holder, 'nodeName') ?? Reflect.get(holder, 'name');
  return typeof name === 'string' ? name : undefined;
}

/** The states of one NodeClaim in the order in which they were written. */
export function historyOfNodeClaim({ audit }: ClusterSimulator, name: string): NodeClaim[] {
  return audit.entries.flatMap((entry) => {
    const fact = readClusterFact(entry);
    return fact?.kind === 'nodeClaim' && fact.nodeClaim.metadata.name === name ? [fact.nodeClaim] : [];
  });
}

const readingVerbs = new Set(['get', 'list', 'watch']);

/** What Driftless changed, in Kubernetes and at ARM, between two instants (wall-clock milliseconds), in words. */
export function changesBetween(
  { cluster, azure }: { readonly cluster: ClusterSimulator; readonly azure: AzureSimulator },
  fromMs: number,
  toMs: number,
): string[] {
  const isWithin = (at: number): boolean => at >= fromMs && at < toMs;
  const inCluster = cluster.audit.entries
    .filter(({ at, verb, userAgent }) => isWithin(at) && !readingVerbs.has(verb) && userAgent === 'driftless/worker')
    .map(({ verb, resource, name }) => `${verb} ${resource} ${name ?? ''}`);
  const atArm = azure.audit.entries.flatMap((entry) =>
    entry.kind === 'request' && entry.method !== 'GET' && isWithin(entry.at)
      ? [`${entry.method} ${entry.virtualMachine ?? ''}`]
      : [],
  );
  return [...inCluster, ...atArm];
}
