import { z } from 'zod';

/** What Karpenter's CRDs (v1.15) demand of NodePools and NodeClaims, but for their rules in CEL: those are in karpenterRules.ts. */

const qualifiedName =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const quantityPattern =
  /^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$/;
const durationOrNever = z.string().regex(/^(([0-9]+(s|m|h))+|Never)$/);
const quantities = z.record(z.string(), z.union([z.int(), z.string().regex(quantityPattern)]));
const dateTime = z.iso.datetime({ offset: true });

const nodeClassRef = z.object({ group: z.string().regex(/^[^/]*$/), kind: z.string(), name: z.string() });
const requirement = z.object({
  key: z.string().max(316).regex(qualifiedName),
  operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte']),
  values: z.array(z.string()).optional(),
  minValues: z.int().min(1).max(50).optional(),
});
const taint = z.object({
  key: z.string().min(1).regex(qualifiedName),
  value: z.string().regex(qualifiedName).optional(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
  timeAdded: dateTime.optional(),
});
const nodeSpec = z.object({
  nodeClassRef,
  requirements: z.array(requirement).max(100),
  taints: z.array(taint).optional(),
  startupTaints: z.array(taint).optional(),
  expireAfter: durationOrNever.default('720h'),
  terminationGracePeriod: z
    .string()
    .regex(/^([0-9]+(s|m|h))+$/)
    .optional(),
});
const budget = z.object({
  nodes: z
    .string()
    .regex(/^((100|[0-9]{1,2})%|[0-9]+)$/)
    .default('10%'),
  schedule: z
    .string()
    .regex(/^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$/)
    .optional(),
  duration: z
    .string()
    .regex(/^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$/)
    .optional(),
  reasons: z
    .array(z.enum(['Underutilized', 'Empty', 'Drifted', 'Unhealthy']))
    .max(50)
    .optional(),
});
const disruption = z.object({
  budgets: z
    .array(budget)
    .max(50)
    .default([{ nodes: '10%' }]),
  consolidateAfter: durationOrNever.default('0s'),
  consolidationPolicy: z
    .enum(['WhenEmpty', 'WhenEmptyOrUnderutilized', 'Balanced'])
    .default('WhenEmptyOrUnderutilized'),
});
const templateMetadata = z.object({
  annotations: z.record(z.string(), z.string()).optional(),
  labels: z.record(z.string(), z.string().max(63).regex(labelValue)).optional(),
});

const conditionStatus = z.enum(['True', 'False', 'Unknown']);
const condition = {
  type: z.string().max(316),
  status: conditionStatus,
  lastTransitionTime: dateTime,
  observedGeneration: z.int().min(0).optional(),
};
const nodeClaimCondition = z.object({
  ...condition,
  reason: z
    .string()
    .max(1024)
    .regex(/^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?|)$/)
    .optional(),
  message: z.string().max(32768).optional(),
});
const nodePoolCondition = z.object({
  ...condition,
  reason: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/),
  message: z.string().max(32768),
});

export const nodePoolSchema = z.object({
  spec: z.object({
    template: z.object({ metadata: templateMetadata.optional(), spec: nodeSpec }),
    disruption: disruption.prefault({ consolidateAfter: '0s' }),
    limits: quantities.optional(),
    replicas: z.int().min(0).optional(),
    weight: z.int().min(1).max(100).optional(),
  }),
  status: z
    .object({
      conditions: z.array(nodePoolCondition).optional(),
      nodes: z.int().default(0),
      nodeClassObservedGeneration: z.int().optional(),
      resources: quantities.optional(),
    })
    .optional(),
});
export type NodePoolContent = z.infer<typeof nodePoolSchema>;

export const nodeClaimSchema = z.object({
  spec: nodeSpec.extend({ resources: z.object({ requests: quantities.optional() }).optional() }),
  status: z
    .object({
      conditions: z.array(nodeClaimCondition).optional(),
      nodeName: z.string().optional(),
      providerID: z.string().optional(),
      imageID: z.string().optional(),
      lastPodEventTime: dateTime.optional(),
      capacity: quantities.optional(),
      allocatable: quantities.optional(),
    })
    .optional(),
});
export type NodeClaimContent = z.infer<typeof nodeClaimSchema>;
