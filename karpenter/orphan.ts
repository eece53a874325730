import type { Node, NodeClaim, Pod } from './api.js';
import { conditionTypes, isTrue } from './conditions.js';
import { disruptingWorkflow } from './disruptionMark.js';
import { isWorkload } from './drain.js';
import {
  disruptedTaint,
  ownerAnnotation,
  replacementTaint,
  replacesAnnotation,
  terminationFinalizer,
  workflowAnnotation,
} from './labels.js';
import { podName } from './pods.js';
import { disruption, isReplacementOf, virtualMachineName } from './replacement.js';
import { hasTaint } from './taints.js';

/** A virtual machine, as far as its tags tell whose it is. */
export interface TaggedMachine {
  readonly name: string;
  /** The mark of whoever made it: the id of a Temporal namespace. */
  readonly owner: string | undefined;
  /** The NodeClaim that it was made for. */
  readonly nodeClaim: string | undefined;
  /** ISO 8601. */
  readonly createdAt: string | undefined;
}

/** Everything of ours that there is, each list read to its end: what is missing from one would be taken for an orphan. */
export interface SweepView {
  /** Our mark. */
  readonly owner: string;
  readonly nodeClaims: readonly NodeClaim[];
  readonly nodes: readonly Node[];
  readonly machines: readonly TaggedMachine[];
}

/** Something of ours that no running workflow owns. */
export type Orphan =
  /** A Node that carries the taint and the mark of a replacement. */
  | { readonly kind: 'taint'; readonly node: Node; readonly nodeClaim: NodeClaim | undefined }
  /** A replacement at work that is still reserved for pods that will not come. */
  | { readonly kind: 'reservation'; readonly node: Node; readonly nodeClaim: NodeClaim }
  /** A NodeClaim that says it is being replaced, without a taint. */
  | { readonly kind: 'condition'; readonly nodeClaim: NodeClaim; readonly workflowId: string }
  /** A replacement that nobody needs. It is only reported while there is workload on its node. */
  | { readonly kind: 'nodeClaim'; readonly nodeClaim: NodeClaim; readonly nodeName: string; readonly why: string }
  /** A NodeClaim whose deletion nobody brings to its end. It is only reported while there is workload on its node. */
  | { readonly kind: 'deletion'; readonly nodeClaim: NodeClaim; readonly nodeName: string }
  | { readonly kind: 'virtualMachine'; readonly machine: TaggedMachine; readonly why: string };

function isOurs({ metadata }: Node | NodeClaim, owner: string): boolean {
  return metadata.annotations?.[ownerAnnotation] === owner;
}

function workflowOf({ metadata }: Node | NodeClaim): string | undefined {
  return metadata.annotations?.[workflowAnnotation];
}

/** The workflow that has left it behind, if its mark names one. */
export function ownerOfOrphan(orphan: Exclude<Orphan, { kind: 'virtualMachine' }>): string | undefined {
  switch (orphan.kind) {
    case 'taint':
      return workflowOf(orphan.node);
    case 'condition':
      return orphan.workflowId;
    case 'reservation':
    case 'nodeClaim':
      return workflowOf(orphan.nodeClaim);
    case 'deletion':
      return disruptingWorkflow(orphan.nodeClaim) ?? workflowOf(orphan.nodeClaim);
  }
}

/** The workflows that the marks name: of these, who looks for orphans has to know which ones are running. */
export function markedWorkflows({ owner, nodeClaims, nodes }: SweepView): ReadonlySet<string> {
  const marked = [...nodeClaims, ...nodes].filter((object) => isOurs(object, owner)).map(workflowOf);
  return new Set([...marked, ...nodeClaims.map(disruptingWorkflow)].filter((id) => id !== undefined));
}

/**
 * Finds what a replacement that was terminated or lost has left behind. Only what carries our mark counts; what a person set, and who
 * is at work, is left alone.
 * @param running ids of the workflows that are running
 * @param olderThanMs NodeClaims and VMs count only when they were created, or deleted, before this instant, epoch milliseconds
 */
export function findOrphans(view: SweepView, running: ReadonlySet<string>, olderThanMs: number): readonly Orphan[] {
  const isOwned = (workflowId: string | undefined): boolean => workflowId !== undefined && running.has(workflowId);
  return [
    ...orphanTaints(view, isOwned),
    ...orphanConditions(view, isOwned),
    ...orphanNodeClaims(view, isOwned, olderThanMs),
    ...orphanDeletions(view, isOwned, olderThanMs),
    ...orphanMachines(view, olderThanMs),
  ];
}

type IsOwned = (workflowId: string | undefined) => boolean;

function orphanTaints({ owner, nodes, nodeClaims }: SweepView, isOwned: IsOwned): Orphan[] {
  const byNode = new Map(nodeClaims.map((nodeClaim) => [nodeClaim.status?.nodeName, nodeClaim]));
  const orphans: Orphan[] = [];
  for (const node of nodes) {
    const nodeClaim = byNode.get(node.metadata.name);
    // A node on its way out takes no pods any more.
    if (node.metadata.deletionTimestamp !== undefined || nodeClaim?.metadata.deletionTimestamp !== undefined) continue;
    if (hasTaint(node, disruptedTaint) && isOurs(node, owner) && !isOwned(workflowOf(node))) {
      orphans.push({ kind: 'taint', node, nodeClaim });
    }
    const isReserved = hasTaint(node, replacementTaint) && nodeClaim !== undefined && isOurs(nodeClaim, owner);
    const isAtWork = isReserved && isTrue(nodeClaim, conditionTypes.initialized);
    if (isAtWork && !isOwned(workflowOf(nodeClaim)) && !isReplaced(nodeClaims, nodeClaim)) {
      orphans.push({ kind: 'reservation', node, nodeClaim });
    }
  }
  return orphans;
}

function orphanConditions({ nodeClaims, nodes }: SweepView, isOwned: IsOwned): Orphan[] {
  const tainted = new Set(nodes.filter((node) => hasTaint(node, disruptedTaint)).map(({ metadata }) => metadata.name));
  return nodeClaims.flatMap((nodeClaim): Orphan[] => {
    const workflowId = disruptingWorkflow(nodeClaim);
    if (workflowId === undefined || isOwned(workflowId)) return [];
    const isLeaving = nodeClaim.metadata.deletionTimestamp !== undefined;
    const isTaintedToo = tainted.has(nodeClaim.status?.nodeName ?? '');
    return isLeaving || isTaintedToo ? [] : [{ kind: 'condition', nodeClaim, workflowId }];
  });
}

/** The NodeClaim that this one is to replace is still there: the replacement did not come to its end. */
function isReplaced(nodeClaims: readonly NodeClaim[], { metadata }: NodeClaim): boolean {
  const replaces = metadata.annotations?.[replacesAnnotation];
  return nodeClaims.some((other) => other.metadata.uid === replaces && other.metadata.deletionTimestamp === undefined);
}

function orphanNodeClaims(view: SweepView, isOwned: IsOwned, olderThanMs: number): Orphan[] {
  const { owner, nodeClaims } = view;
  return nodeClaims.flatMap((nodeClaim): Orphan[] => {
    const { annotations, creationTimestamp, deletionTimestamp } = nodeClaim.metadata;
    const replaces = annotations?.[replacesAnnotation];
    if (replaces === undefined || !isReplacementOf(nodeClaim, owner, replaces)) return [];
    if (deletionTimestamp !== undefined || isOwned(workflowOf(nodeClaim))) return [];
    if (creationTimestamp === undefined || Date.parse(creationTimestamp) >= olderThanMs) return [];
    const isInitialized = isTrue(nodeClaim, conditionTypes.initialized);
    const isSuperfluous = isReplaced(nodeClaims, nodeClaim);
    if (isInitialized && !isSuperfluous) return [];
    const why = isSuperfluous
      ? 'what it was to replace is still there, and no workflow is replacing it'
      : 'it is not Initialized, and no workflow is looking after it';
    return [{ kind: 'nodeClaim', nodeClaim, nodeName: nodeNameOf(nodeClaim), why }];
  });
}

function nodeNameOf({ metadata, status }: NodeClaim): string {
  return status?.nodeName ?? virtualMachineName(metadata.name);
}

/** Its finalizer is ours to take off: it would wait for ever. */
function orphanDeletions({ owner, nodeClaims, nodes }: SweepView, isOwned: IsOwned, olderThanMs: number): Orphan[] {
  const ourNodes = new Set(nodes.filter((node) => isOurs(node, owner)).map(({ metadata }) => metadata.name));
  return nodeClaims.flatMap((nodeClaim): Orphan[] => {
    const { deletionTimestamp, finalizers = [] } = nodeClaim.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes(terminationFinalizer)) return [];
    if (Date.parse(deletionTimestamp) >= olderThanMs) return [];
    const disrupting = disruptingWorkflow(nodeClaim);
    const nodeName = nodeNameOf(nodeClaim);
    // Once its Node is gone, that is the last that tells whose the old node was.
    const isMarked = isOurs(nodeClaim, owner) || ourNodes.has(nodeName) || disrupting !== undefined;
    if (!isMarked || isOwned(disrupting) || isOwned(workflowOf(nodeClaim))) return [];
    return [{ kind: 'deletion', nodeClaim, nodeName }];
  });
}

/** Why a node that nobody needs stays, by its pods; undefined: nothing on it is in the way. */
export function keptWhy(podsOnIt: readonly Pod[]): string | undefined {
  const workload = podsOnIt.find((pod) => isWorkload(pod, disruption));
  return workload === undefined ? undefined : `pod ${podName(workload)} runs on it`;
}

function orphanMachines({ owner, nodeClaims, machines }: SweepView, olderThanMs: number): Orphan[] {
  const names = new Set(nodeClaims.map(({ metadata }) => metadata.name));
  return machines.flatMap((machine): Orphan[] => {
    if (machine.owner !== owner || machine.nodeClaim === undefined || names.has(machine.nodeClaim)) return [];
    if (machine.createdAt === undefined || Date.parse(machine.createdAt) >= olderThanMs) return [];
    return [{ kind: 'virtualMachine', machine, why: `its NodeClaim ${machine.nodeClaim} does not exist` }];
  });
}
