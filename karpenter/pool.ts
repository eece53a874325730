import type { Node, NodeClaim, NodePool } from './api.js';
import { conditionTypes, getCondition, isTrue } from './conditions.js';
import { disruptedTaint, initializedLabel, nodePoolLabel } from './labels.js';

/** A NodeClaim and the Node that it became, if it has become one. */
export interface Machine {
  readonly nodeClaim: NodeClaim;
  readonly node: Node | undefined;
}

/** One NodePool as the cluster shows it at one instant. */
export interface Pool {
  readonly nodePool: NodePool;
  readonly machines: readonly Machine[];
}

/** What the budget counts. */
export interface Census {
  /** Initialized, managed nodes whose instance is not terminating. */
  readonly nodes: number;
  /** Names of the NodeClaims among them that are disrupted for whatever reason. */
  readonly disrupted: readonly string[];
}

/** Puts the NodeClaims of a pool beside their Nodes, by the name in their status, else by providerID. */
export function joinPool(nodePool: NodePool, nodeClaims: readonly NodeClaim[], nodes: readonly Node[]): Pool {
  const byName = new Map(nodes.map((node) => [node.metadata.name, node]));
  const byProviderId = new Map(nodes.map((node) => [node.spec?.providerID, node]));
  const machines = nodeClaims
    .filter((nodeClaim) => nodeClaim.metadata.labels?.[nodePoolLabel] === nodePool.metadata.name)
    .map((nodeClaim) => {
      const { nodeName, providerID } = nodeClaim.status ?? {};
      const named = nodeName === undefined ? undefined : byName.get(nodeName);
      return { nodeClaim, node: named ?? (providerID === undefined ? undefined : byProviderId.get(providerID)) };
    });
  return { nodePool, machines };
}

/** Karpenter's `Initialized()`: the label that its lifecycle controller, or our launcher, puts on the Node. */
export function isInitialized({ node }: Machine): boolean {
  return node?.metadata.labels?.[initializedLabel] === 'true';
}

/** The node carries the taint that stands for a disruption under way. */
export function isTainted({ node }: Machine): boolean {
  return node?.spec?.taints?.some((taint) => taint.key === disruptedTaint) ?? false;
}

/** The NodeClaim or its Node has been deleted and waits for its finalizers. */
export function isDeleting({ nodeClaim, node }: Machine): boolean {
  return nodeClaim.metadata.deletionTimestamp !== undefined || node?.metadata.deletionTimestamp !== undefined;
}

function isNotReady({ node }: Machine): boolean {
  return node !== undefined && getCondition(node, conditionTypes.ready)?.status !== 'True';
}

/**
 * Counts as Karpenter does (BuildDisruptionBudgetMapping): a node whose instance is terminating counts neither as a node nor as
 * disrupted. Disrupted is a union by name: tainted, in flight here, not ready, or being deleted by anybody.
 * @param inFlight names of the NodeClaims that a running workflow replaces
 */
export function takeCensus(pool: Pool, inFlight: ReadonlySet<string>): Census {
  const counted = pool.machines.filter(
    (machine) => isInitialized(machine) && !isTrue(machine.nodeClaim, conditionTypes.instanceTerminating),
  );
  const disrupted = counted.filter(
    (machine) =>
      isTainted(machine) || inFlight.has(machine.nodeClaim.metadata.name) || isNotReady(machine) || isDeleting(machine),
  );
  return { nodes: counted.length, disrupted: disrupted.map((machine) => machine.nodeClaim.metadata.name).sort() };
}
