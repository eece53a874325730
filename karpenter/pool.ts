import type { Node, NodeClaim, NodeClass, NodePool, Pod, PodDisruptionBudget } from './api.js';
import { conditionTypes, isTrue } from './conditions.js';
import { disruptedTaint, initializedLabel, managedAnnotation, nodePoolLabel, waitingTaint } from './labels.js';
import { hasTaint } from './taints.js';

/** A NodeClaim and the Node that it became, if it has become one. */
export interface Machine {
  readonly nodeClaim: NodeClaim;
  readonly node: Node | undefined;
  /** The pods that are bound to the Node. */
  readonly pods: readonly Pod[];
}

/** One NodePool as the cluster shows it at one instant. */
export interface Pool {
  readonly nodePool: NodePool;
  /** The NodeClass of its template; undefined where there is none. */
  readonly nodeClass: NodeClass | undefined;
  readonly machines: readonly Machine[];
  /** Pods of the cluster that have no node yet. */
  readonly pendingPods: readonly Pod[];
  readonly podDisruptionBudgets: readonly PodDisruptionBudget[];
}

/** Its owner lets Driftless replace its nodes. */
export function isManaged({ metadata }: NodePool): boolean {
  return metadata.annotations?.[managedAnnotation] === 'true';
}

/** What a pool is joined from. */
export interface PoolParts {
  readonly nodePool: NodePool;
  readonly nodeClass?: NodeClass | undefined;
  readonly nodeClaims: readonly NodeClaim[];
  readonly nodes: readonly Node[];
  readonly pods?: readonly Pod[];
  readonly podDisruptionBudgets?: readonly PodDisruptionBudget[];
}

/** What the budget counts. */
export interface Census {
  /** Initialized, managed nodes whose instance is not terminating. */
  readonly nodes: number;
  /** Names of the NodeClaims among them that are disrupted for whatever reason. */
  readonly disrupted: readonly string[];
  /** Names of those among them that nobody disrupts: they are only not ready. */
  readonly onlyNotReady: readonly string[];
}

/** Of the pods of a whole cluster those on these nodes. */
function groupByNode(pods: readonly Pod[], nodes: readonly Node[]): ReadonlyMap<string, readonly Pod[]> {
  const byNode = new Map(nodes.map(({ metadata }): [string, Pod[]] => [metadata.name, []]));
  for (const pod of pods) byNode.get(pod.spec.nodeName ?? '')?.push(pod);
  return byNode;
}

/** Puts the NodeClaims of a pool beside their Nodes, by the name in their status, else by providerID, and those beside their pods. */
export function joinPool(parts: PoolParts): Pool {
  const { nodePool, nodeClass, nodeClaims, nodes, pods = [], podDisruptionBudgets = [] } = parts;
  const byName = new Map(nodes.map((node) => [node.metadata.name, node]));
  const byProviderId = new Map(nodes.map((node) => [node.spec?.providerID, node]));
  const podsByNode = groupByNode(pods, nodes);
  const machines = nodeClaims
    .filter((nodeClaim) => nodeClaim.metadata.labels?.[nodePoolLabel] === nodePool.metadata.name)
    .map((nodeClaim) => {
      const { nodeName, providerID } = nodeClaim.status ?? {};
      const named = nodeName === undefined ? undefined : byName.get(nodeName);
      const node = named ?? (providerID === undefined ? undefined : byProviderId.get(providerID));
      return { nodeClaim, node, pods: (node === undefined ? undefined : podsByNode.get(node.metadata.name)) ?? [] };
    });
  const pendingPods = pods.filter(({ spec }) => spec.nodeName === undefined || spec.nodeName === '');
  return { nodePool, nodeClass, machines, pendingPods, podDisruptionBudgets };
}

/** Karpenter's `Initialized()`: the label that its lifecycle controller, or our launcher, puts on the Node. */
export function isInitialized({ node }: Machine): boolean {
  return node?.metadata.labels?.[initializedLabel] === 'true';
}

/** The node carries the taint that stands for a disruption under way. */
export function isTainted({ node }: Machine): boolean {
  return node !== undefined && hasTaint(node, disruptedTaint);
}

/** The node carries the soft taint of those that wait for their replacement. */
export function isMarkedWaiting({ node }: Machine): boolean {
  return node !== undefined && hasTaint(node, waitingTaint);
}

/** The NodeClaim or its Node has been deleted and waits for its finalizers. */
export function isDeleting({ nodeClaim, node }: Machine): boolean {
  return nodeClaim.metadata.deletionTimestamp !== undefined || node?.metadata.deletionTimestamp !== undefined;
}

/** The machine is being rebooted in place: it counts, and is disrupted. */
export function isRebooting({ nodeClaim }: Machine): boolean {
  return isTrue(nodeClaim, conditionTypes.rebooting);
}

function isNotReady({ node }: Machine): boolean {
  return node !== undefined && !isTrue(node, conditionTypes.ready);
}

/** The pool keeps a fixed number of nodes (`spec.replicas`): an empty one is replaced too. */
export function isStatic({ spec }: NodePool): boolean {
  return spec.replicas !== undefined;
}

/**
 * Counts as Karpenter does (BuildDisruptionBudgetMapping): a node whose instance is terminating counts neither as a node nor as
 * disrupted. Disrupted is a union by name: tainted, in flight here, not ready, rebooting, or being deleted by
 * anybody.
 * @param inFlight names of the NodeClaims that a running workflow replaces
 */
export function takeCensus(pool: Pool, inFlight: ReadonlySet<string>): Census {
  const counted = pool.machines.filter(
    (machine) =>
      (isInitialized(machine) || isRebooting(machine)) &&
      !isTrue(machine.nodeClaim, conditionTypes.instanceTerminating),
  );
  const isDisrupted = (machine: Machine): boolean =>
    isTainted(machine) || inFlight.has(machine.nodeClaim.metadata.name) || isDeleting(machine) || isRebooting(machine);
  const onlyNotReady = counted.filter((machine) => !isDisrupted(machine) && isNotReady(machine));
  const namesOf = (machines: readonly Machine[]): string[] =>
    machines.map(({ nodeClaim }) => nodeClaim.metadata.name).sort();
  return {
    nodes: counted.length,
    disrupted: namesOf([...counted.filter(isDisrupted), ...onlyNotReady]),
    onlyNotReady: namesOf(onlyNotReady),
  };
}
