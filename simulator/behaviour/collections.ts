import { z } from 'zod';

import type { Collection } from '../../activities/kubernetes/informer.js';
import type { NodeClaim, NodeClass } from '../../karpenter/api.js';
import { nodeClaimSchema, nodeClassSchema } from '../../karpenter/api.js';
import type { Deployment, Node, Pod, PodDisruptionBudget, ReplicaSet } from './objects.js';
import {
  deploymentSchema,
  namespacedKey,
  nodeSchema,
  podDisruptionBudgetSchema,
  podSchema,
  replicaSetSchema,
} from './objects.js';

const rawListSchema = z.object({ metadata: z.object({ resourceVersion: z.string() }), items: z.array(z.unknown()) });

const nameOf = (object: { readonly metadata: { readonly name: string } }): string => object.metadata.name;

/** A collection below /apis/, read as it stands on the wire: typed clients would reorder and drop fields of pod templates. */
function groupCollection<T>(
  resource: { readonly group: string; readonly version: string; readonly plural: string },
  schema: z.ZodType<T>,
  key: (object: T) => string,
): Collection<T> {
  return {
    path: `/apis/${resource.group}/${resource.version}/${resource.plural}`,
    async list(api) {
      const { metadata, items } = rawListSchema.parse(await api.custom.listClusterCustomObject(resource));
      return { items: items.map((item) => schema.parse(item)), resourceVersion: metadata.resourceVersion };
    },
    parse: (object) => schema.parse(object),
    key,
  };
}

export const nodes: Collection<Node> = {
  path: '/api/v1/nodes',
  async list(api) {
    const { metadata, items } = await api.core.listNode();
    return { items: items.map((item) => nodeSchema.parse(item)), resourceVersion: metadata?.resourceVersion ?? '' };
  },
  parse: (object) => nodeSchema.parse(object),
  key: nameOf,
};

export const pods: Collection<Pod> = {
  path: '/api/v1/pods',
  async list(api) {
    const { metadata, items } = await api.core.listPodForAllNamespaces();
    return { items: items.map((item) => podSchema.parse(item)), resourceVersion: metadata?.resourceVersion ?? '' };
  },
  parse: (object) => podSchema.parse(object),
  key: namespacedKey,
};

export const replicaSets: Collection<ReplicaSet> = groupCollection(
  { group: 'apps', version: 'v1', plural: 'replicasets' },
  replicaSetSchema,
  namespacedKey,
);

export const deployments: Collection<Deployment> = groupCollection(
  { group: 'apps', version: 'v1', plural: 'deployments' },
  deploymentSchema,
  namespacedKey,
);

export const podDisruptionBudgets: Collection<PodDisruptionBudget> = groupCollection(
  { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets' },
  podDisruptionBudgetSchema,
  namespacedKey,
);

export const nodeClassResource = {
  group: 'karpenter.azure.com',
  version: 'v1beta1',
  plural: 'aksnodeclasses',
} as const;
export const nodeClasses: Collection<NodeClass> = groupCollection(nodeClassResource, nodeClassSchema, nameOf);

export const nodeClaimResource = { group: 'karpenter.sh', version: 'v1', plural: 'nodeclaims' } as const;
export const nodeClaims: Collection<NodeClaim> = groupCollection(nodeClaimResource, nodeClaimSchema, nameOf);
