import { createHash } from 'node:crypto';

import type { NodeClaim, NodePool, ResourceList, Taint } from './api.js';
import {
  archLabel,
  capacityTypeLabel,
  disruptedTaint,
  instanceTypeLabel,
  launchAnnotation,
  nodePoolHashAnnotation,
  nodePoolHashVersionAnnotation,
  nodePoolLabel,
  osLabel,
  ownerAnnotation,
  replacementTaint,
  replacesAnnotation,
  terminationFinalizer,
  workflowAnnotation,
  zoneLabel,
} from './labels.js';
import type { Offering } from './offering.js';

/**
 * The name of a replacement NodeClaim: derived, never random, so that whoever asks again asks for the same VM.
 * @param round how often this NodeClaim's replacement was begun before, 0 for the first
 * @param attempt the place of the offering in the replacement's list, from 0
 */
export function replacementName(nodePool: string, uid: string, round: number, attempt: number): string {
  const digest = createHash('sha256').update(`${uid}/${round}/${attempt}`).digest();
  const suffix = BigInt(`0x${digest.toString('hex')}`)
    .toString(36)
    .slice(0, 8);
  // 63 characters at most, with `aks-` before it as the VM's and the Node's name.
  return `${nodePool.slice(0, 50)}-${suffix}`;
}

/** The name of the VM, its NIC, its OS disk and its Node, as Karpenter's Azure provider gives it. */
export function virtualMachineName(nodeClaim: string): string {
  return `aks-${nodeClaim}`;
}

/** Who asks for a replacement: our mark. */
export interface ReplacementMark {
  /** The id of the Temporal namespace. */
  readonly owner: string;
  readonly workflowId: string;
  readonly launch: { readonly round: number; readonly attempt: number };
}

/** All that a replacement NodeClaim is made from. */
export interface ReplacementPlan {
  readonly nodePool: NodePool;
  /** The NodeClaim that it replaces. */
  readonly old: NodeClaim;
  readonly offering: Offering;
  /** What the pods ask for that it is to run. */
  readonly requests: ResourceList;
  readonly name: string;
  readonly mark: ReplacementMark;
}

/** What a node carries while it is replaced. */
export const disruption: Taint = { key: disruptedTaint, effect: 'NoSchedule' };

/** Keeps everybody else's pods off a replacement until the pods that it is for are evicted. */
export const reservation: Taint = { key: replacementTaint, effect: 'NoSchedule' };

function pick(values: Readonly<Record<string, string>> | undefined, keys: readonly string[]): Record<string, string> {
  const entries = keys.flatMap((key) => {
    const value = values?.[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(entries);
}

/**
 * The NodeClaim that replaces another, stamped from the NodePool's template as Karpenter does it, narrowed to one offering: the
 * nodepool-hash annotations let Karpenter see later drift, the owner reference has it go with its NodePool.
 */
export function buildReplacement({ nodePool, old, offering, requests, name, mark }: ReplacementPlan): object {
  const { template } = nodePool.spec;
  const narrowed: Readonly<Record<string, string>> = {
    [instanceTypeLabel]: offering.instanceType,
    [zoneLabel]: offering.zone,
    [capacityTypeLabel]: offering.capacityType,
  };
  const requirements = template.spec.requirements.filter(({ key }) => narrowed[key] === undefined);
  const ref = template.spec.nodeClassRef;
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      name,
      labels: {
        ...pick(old.metadata.labels, [archLabel, osLabel]),
        ...template.metadata?.labels,
        ...narrowed,
        [nodePoolLabel]: nodePool.metadata.name,
        [`${ref.group}/${ref.kind.toLowerCase()}`]: ref.name,
      },
      annotations: {
        ...template.metadata?.annotations,
        ...pick(nodePool.metadata.annotations, [nodePoolHashAnnotation, nodePoolHashVersionAnnotation]),
        [ownerAnnotation]: mark.owner,
        [workflowAnnotation]: mark.workflowId,
        [replacesAnnotation]: old.metadata.uid,
        [launchAnnotation]: `${mark.launch.round}/${mark.launch.attempt}`,
      },
      finalizers: [terminationFinalizer],
      ownerReferences: [
        {
          apiVersion: 'karpenter.sh/v1',
          kind: 'NodePool',
          name: nodePool.metadata.name,
          uid: nodePool.metadata.uid,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      nodeClassRef: ref,
      requirements: [
        ...requirements,
        ...Object.entries(narrowed).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
      ],
      taints: [...(template.spec.taints ?? []), reservation],
      ...(template.spec.startupTaints === undefined ? {} : { startupTaints: template.spec.startupTaints }),
      ...(template.spec.expireAfter === undefined ? {} : { expireAfter: template.spec.expireAfter }),
      ...(template.spec.terminationGracePeriod === undefined
        ? {}
        : { terminationGracePeriod: template.spec.terminationGracePeriod }),
      resources: { requests },
    },
  };
}

/** Whether a NodeClaim is what this owner made to replace the NodeClaim of that UID: only then may it be adopted or removed. */
export function isReplacementOf({ metadata }: NodeClaim, owner: string, uid: string): boolean {
  return metadata.annotations?.[ownerAnnotation] === owner && metadata.annotations[replacesAnnotation] === uid;
}

/** Which launch a replacement is, by its mark. */
export function launchNameOf({ metadata }: NodeClaim): ReplacementMark['launch'] | undefined {
  const [, round, attempt] = /^(\d+)\/(\d+)$/.exec(metadata.annotations?.[launchAnnotation] ?? '') ?? [];
  return round === undefined || attempt === undefined ? undefined : { round: Number(round), attempt: Number(attempt) };
}
