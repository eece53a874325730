import type { V1PodTemplateSpec } from '@kubernetes/client-node';
import { z } from 'zod';

import {
  conditionSchema,
  nodeSchema as karpenterNodeSchema,
  podSchema as karpenterPodSchema,
  requirementSchema,
  resourceListSchema,
} from '../../karpenter/api.js';

/** The fields of Kubernetes objects that the behaviours read, besides those that Karpenter's types name already. */

/** With the fields that are not named: the behaviours write lists of conditions back whole. */
const conditions = z.array(conditionSchema.loose()).optional();

export const labelSelectorSchema = z.object({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z.array(requirementSchema).optional(),
});

const nodeSelectorTerm = z.object({
  matchExpressions: z.array(requirementSchema).optional(),
  matchFields: z.array(requirementSchema).optional(),
});
export type NodeSelectorTerm = z.infer<typeof nodeSelectorTerm>;

const container = z.object({
  name: z.string(),
  image: z.string().optional(),
  restartPolicy: z.string().optional(),
  resources: z.object({ requests: resourceListSchema.optional() }).optional(),
});

export const podSchema = karpenterPodSchema.extend({
  spec: karpenterPodSchema.shape.spec.extend({
    schedulerName: z.string().optional(),
    nodeSelector: z.record(z.string(), z.string()).optional(),
    containers: z.array(container),
    initContainers: z.array(container).optional(),
    overhead: resourceListSchema.optional(),
    topologySpreadConstraints: z.array(z.unknown()).optional(),
    affinity: z
      .object({
        nodeAffinity: z
          .object({
            requiredDuringSchedulingIgnoredDuringExecution: z
              .object({ nodeSelectorTerms: z.array(nodeSelectorTerm) })
              .optional(),
          })
          .optional(),
        podAffinity: z.unknown().optional(),
        podAntiAffinity: z.unknown().optional(),
      })
      .optional(),
  }),
  status: z.object({ phase: z.string().optional(), conditions }).optional(),
});
export type Pod = z.infer<typeof podSchema>;
export type Toleration = NonNullable<Pod['spec']['tolerations']>[number];

export const nodeSchema = karpenterNodeSchema.extend({
  status: z
    .object({
      conditions,
      capacity: resourceListSchema.optional(),
      allocatable: resourceListSchema.optional(),
    })
    .optional(),
});
export type Node = z.infer<typeof nodeSchema>;

const podTemplate = z.custom<V1PodTemplateSpec>((value) => typeof value === 'object' && value !== null);
const workloadSpec = z.object({
  replicas: z.number().default(1),
  selector: labelSelectorSchema,
  template: podTemplate,
});
const replicaCounts = {
  observedGeneration: z.number().optional(),
  replicas: z.number().optional(),
  readyReplicas: z.number().optional(),
  availableReplicas: z.number().optional(),
};

export const replicaSetSchema = z.object({
  metadata: karpenterPodSchema.shape.metadata,
  spec: workloadSpec,
  status: z.object(replicaCounts).optional(),
});
export type ReplicaSet = z.infer<typeof replicaSetSchema>;

export const deploymentSchema = z.object({
  metadata: karpenterPodSchema.shape.metadata,
  spec: workloadSpec,
  status: z.object({ ...replicaCounts, updatedReplicas: z.number().optional() }).optional(),
});
export type Deployment = z.infer<typeof deploymentSchema>;

const countOrPercent = z.union([z.number(), z.string()]);
export type CountOrPercent = z.infer<typeof countOrPercent>;

export const podDisruptionBudgetSchema = z.object({
  metadata: karpenterPodSchema.shape.metadata,
  spec: z.object({
    selector: labelSelectorSchema.optional(),
    minAvailable: countOrPercent.optional(),
    maxUnavailable: countOrPercent.optional(),
  }),
  status: z
    .object({
      observedGeneration: z.number().optional(),
      expectedPods: z.number().optional(),
      currentHealthy: z.number().optional(),
      desiredHealthy: z.number().optional(),
      disruptionsAllowed: z.number().optional(),
      disruptedPods: z.record(z.string(), z.string()).optional(),
      conditions,
    })
    .optional(),
});
export type PodDisruptionBudget = z.infer<typeof podDisruptionBudgetSchema>;

type OwnerReference = NonNullable<Pod['metadata']['ownerReferences']>[number];

/** The owner that manages the object, if there is one. */
export function controllerOf(object: {
  readonly metadata: { readonly ownerReferences?: readonly OwnerReference[] };
}): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}

export function namespacedKey(object: {
  readonly metadata: { readonly namespace: string; readonly name: string };
}): string {
  return `${object.metadata.namespace}/${object.metadata.name}`;
}

export function isTerminating(object: { readonly metadata: { readonly deletionTimestamp?: string } }): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** A pod that has run to its end: it takes no room any more. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}
