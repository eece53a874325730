import type { z } from 'zod';

import type { Collection } from '../../activities/kubernetes/informer.js';
import { pagedList } from '../../activities/kubernetes/pagedList.js';
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

const nameOf = (object: { readonly metadata: { readonly name: string } }): string => object.metadata.name;

/** A collection below /apis/, read as it stands on the wire: typed clients would reorder and drop fields of pod templates. */
function groupCollection<T>(
  kind: string,
  resource: { readonly group: string; readonly version: string; readonly plural: string },
  schema: z.ZodType<T>,
  key: (object: T) => string,
): Collection<T> {
  return {
    path: `/apis/${resource.group}/${resource.version}/${resource.plural}`,
    list: pagedList(kind, schema, (api, page) => api.custom.listClusterCustomObject({ ...resource, ...page })),
    parse: (object) => schema.parse(object),
    key,
  };
}

export const nodes: Collection<Node> = {
  path: '/api/v1/nodes',
  list: pagedList('Node', nodeSchema, (api, page) => api.core.listNode(page)),
  parse: (object) => nodeSchema.parse(object),
  key: nameOf,
};

export const pods: Collection<Pod> = {
  path: '/api/v1/pods',
  list: pagedList('Pod', podSchema, (api, page) => api.core.listPodForAllNamespaces(page)),
  parse: (object) => podSchema.parse(object),
  key: namespacedKey,
};

export const replicaSets: Collection<ReplicaSet> = groupCollection(
  'ReplicaSet',
  { group: 'apps', version: 'v1', plural: 'replicasets' },
  replicaSetSchema,
  namespacedKey,
);

export const deployments: Collection<Deployment> = groupCollection(
  'Deployment',
  { group: 'apps', version: 'v1', plural: 'deployments' },
  deploymentSchema,
  namespacedKey,
);

export const podDisruptionBudgets: Collection<PodDisruptionBudget> = groupCollection(
  'PodDisruptionBudget',
  { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets' },
  podDisruptionBudgetSchema,
  namespacedKey,
);

export const nodeClassResource = {
  group: 'karpenter.azure.com',
  version: 'v1beta1',
  plural: 'aksnodeclasses',
} as const;
export const nodeClasses: Collection<NodeClass> = groupCollection(
  'AKSNodeClass',
  nodeClassResource,
  nodeClassSchema,
  nameOf,
);

export const nodeClaimResource = { group: 'karpenter.sh', version: 'v1', plural: 'nodeclaims' } as const;
export const nodeClaims: Collection<NodeClaim> = groupCollection(
  'NodeClaim',
  nodeClaimResource,
  nodeClaimSchema,
  nameOf,
);
