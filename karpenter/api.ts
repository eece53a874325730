import { z } from 'zod';

/**
 * Karpenter's API types as far as Driftless reads them. Fields that are not named here are kept as they are: Driftless writes by
 * patch only, never by replacing an object that it read. Lists that a patch replaces whole (conditions, taints) name every field.
 */

/** client-node reads timestamps into Dates, except in custom objects and watch events. */
const timestamp = z.union([z.string(), z.date().transform((date) => date.toISOString())]);

const ownerReference = z.object({
  kind: z.string(),
  name: z.string(),
  uid: z.string(),
  controller: z.boolean().optional(),
});

const metadata = z.object({
  name: z.string(),
  uid: z.string().default(''),
  resourceVersion: z.string().optional(),
  generation: z.number().optional(),
  creationTimestamp: timestamp.optional(),
  deletionTimestamp: timestamp.optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  finalizers: z.array(z.string()).optional(),
  ownerReferences: z.array(ownerReference).optional(),
});

export const conditionSchema = z.object({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().optional(),
  message: z.string().optional(),
  lastTransitionTime: timestamp.optional(),
  observedGeneration: z.number().optional(),
});
export type Condition = z.infer<typeof conditionSchema>;

export const taintSchema = z.object({
  key: z.string(),
  value: z.string().optional(),
  effect: z.string(),
  timeAdded: timestamp.optional(),
});
export type Taint = z.infer<typeof taintSchema>;

export const requirementSchema = z.object({
  key: z.string(),
  operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte']),
  values: z.array(z.string()).optional(),
});
export type Requirement = z.infer<typeof requirementSchema>;

const nodeClassRef = z.object({ group: z.string(), kind: z.string(), name: z.string() });
const quantity = z.union([z.string(), z.number()]).transform((value) => String(value));
export const resourceListSchema = z.record(z.string(), quantity);
export type ResourceList = z.infer<typeof resourceListSchema>;

export interface Budget {
  readonly nodes: string;
  readonly reasons?: readonly string[];
  readonly schedule?: string;
  readonly duration?: string;
  /** Fields that Driftless does not know, with their values. */
  readonly unknownFields?: Readonly<Record<string, unknown>>;
}

export const budgetSchema = z
  .looseObject({
    nodes: z
      .union([z.string(), z.number()])
      .transform((value) => String(value))
      .default('10%'),
    reasons: z.array(z.string()).optional(),
    schedule: z.string().optional(),
    duration: z.string().optional(),
  })
  .transform(({ nodes, reasons, schedule, duration, ...others }): Budget => ({
    nodes,
    ...(reasons === undefined ? {} : { reasons }),
    ...(schedule === undefined ? {} : { schedule }),
    ...(duration === undefined ? {} : { duration }),
    // What a newer Karpenter may say here must not be read as if it were not said.
    ...(Object.keys(others).length === 0 ? {} : { unknownFields: others }),
  }));

const nodeTemplateSpec = z.object({
  nodeClassRef,
  requirements: z.array(requirementSchema).default([]),
  taints: z.array(taintSchema).optional(),
  startupTaints: z.array(taintSchema).optional(),
  expireAfter: z.string().optional(),
  terminationGracePeriod: z.string().optional(),
});

export const nodePoolSchema = z.object({
  metadata,
  spec: z.object({
    replicas: z.number().optional(),
    limits: resourceListSchema.optional(),
    disruption: z.object({ budgets: z.array(budgetSchema).optional() }).optional(),
    template: z.object({
      metadata: z
        .object({
          labels: z.record(z.string(), z.string()).optional(),
          annotations: z.record(z.string(), z.string()).optional(),
        })
        .optional(),
      spec: nodeTemplateSpec,
    }),
  }),
  status: z.object({ conditions: z.array(conditionSchema).optional() }).optional(),
});
export type NodePool = z.infer<typeof nodePoolSchema>;

export const nodeClaimSchema = z.object({
  metadata,
  spec: nodeTemplateSpec.extend({
    resources: z.object({ requests: resourceListSchema.optional() }).optional(),
  }),
  status: z
    .object({
      providerID: z.string().optional(),
      nodeName: z.string().optional(),
      imageID: z.string().optional(),
      capacity: resourceListSchema.optional(),
      allocatable: resourceListSchema.optional(),
      conditions: z.array(conditionSchema).optional(),
    })
    .optional(),
});
export type NodeClaim = z.infer<typeof nodeClaimSchema>;

/** karpenter.azure.com/v1beta1 AKSNodeClass. */
export const nodeClassSchema = z.object({
  metadata,
  spec: z.object({
    imageFamily: z.string().optional(),
    vnetSubnetID: z.string().optional(),
    osDiskSizeGB: z.number().optional(),
    tags: z.record(z.string(), z.string()).optional(),
  }),
  status: z
    .object({
      images: z.array(z.object({ id: z.string(), requirements: z.array(requirementSchema).optional() })).optional(),
      kubernetesVersion: z.string().optional(),
      conditions: z.array(conditionSchema).optional(),
    })
    .optional(),
});
export type NodeClass = z.infer<typeof nodeClassSchema>;

/** A core v1 Node. */
export const nodeSchema = z.object({
  metadata,
  spec: z
    .object({
      providerID: z.string().optional(),
      unschedulable: z.boolean().optional(),
      taints: z.array(taintSchema).optional(),
    })
    .optional(),
  status: z
    .object({
      conditions: z.array(conditionSchema).optional(),
      capacity: resourceListSchema.optional(),
      allocatable: resourceListSchema.optional(),
    })
    .optional(),
});
export type Node = z.infer<typeof nodeSchema>;

const container = z.object({ resources: z.object({ requests: resourceListSchema.optional() }).optional() });

/** A core v1 Pod. */
export const podSchema = z.object({
  metadata: metadata.extend({ namespace: z.string(), deletionGracePeriodSeconds: z.number().optional() }),
  spec: z.object({
    nodeName: z.string().optional(),
    priorityClassName: z.string().optional(),
    terminationGracePeriodSeconds: z.number().optional(),
    tolerations: z
      .array(
        z.object({
          key: z.string().optional(),
          operator: z.string().optional(),
          value: z.string().optional(),
          effect: z.string().optional(),
        }),
      )
      .optional(),
    containers: z.array(container),
    initContainers: z.array(container.extend({ restartPolicy: z.string().optional() })).optional(),
    overhead: resourceListSchema.optional(),
    /** For the pod as a whole. */
    resources: z.object({ requests: resourceListSchema.optional() }).optional(),
    volumes: z
      .array(
        z.object({
          name: z.string(),
          persistentVolumeClaim: z.object({ claimName: z.string() }).optional(),
          /** A generic ephemeral volume: its claim is named `<pod>-<volume>`. */
          ephemeral: z.object({}).optional(),
        }),
      )
      .optional(),
  }),
  status: z
    .object({
      phase: z.string().optional(),
      /** When a kubelet took it on. */
      startTime: timestamp.optional(),
      nominatedNodeName: z.string().optional(),
      conditions: z.array(conditionSchema).optional(),
    })
    .optional(),
});
export type Pod = z.infer<typeof podSchema>;

export const labelSelectorSchema = z.object({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z
    .array(
      z.object({
        key: z.string(),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(z.string()).optional(),
      }),
    )
    .optional(),
});
export type LabelSelector = z.infer<typeof labelSelectorSchema>;

/** A policy/v1 PodDisruptionBudget. */
export const podDisruptionBudgetSchema = z.object({
  metadata: metadata.extend({ namespace: z.string() }),
  spec: z.object({
    selector: labelSelectorSchema.optional(),
    unhealthyPodEvictionPolicy: z.string().optional(),
  }),
  status: z
    .object({
      disruptionsAllowed: z.number().optional(),
      currentHealthy: z.number().optional(),
      desiredHealthy: z.number().optional(),
    })
    .optional(),
});
export type PodDisruptionBudget = z.infer<typeof podDisruptionBudgetSchema>;

/** A storage.k8s.io/v1 VolumeAttachment: a disk that is attached to a node, or about to be, or not yet detached. */
export const volumeAttachmentSchema = z.object({
  metadata,
  spec: z.object({
    nodeName: z.string(),
    source: z.object({ persistentVolumeName: z.string().optional() }),
  }),
});
export type VolumeAttachment = z.infer<typeof volumeAttachmentSchema>;

/** A core v1 Event; whoever writes the newer kind sets eventTime alone. */
export const eventSchema = z.object({
  metadata,
  type: z.string().nullish(),
  reason: z.string().nullish(),
  message: z.string().nullish(),
  count: z.number().nullish(),
  lastTimestamp: timestamp.nullish(),
  eventTime: timestamp.nullish(),
});
export type Event = z.infer<typeof eventSchema>;
