import type { NodeClass, NodePool } from '../../karpenter/api.js';
import { nodeClassSchema, nodePoolSchema } from '../../karpenter/api.js';
import type { Collection } from './informer.js';
import type { KubernetesApi } from './kubernetesApi.js';
import { pagedList } from './pagedList.js';
import { parseObject } from './parse.js';
import { requestIfFound } from './request.js';

const resource = { group: 'karpenter.sh', version: 'v1', plural: 'nodepools' };

const nodeClassResource = { group: 'karpenter.azure.com', version: 'v1beta1', plural: 'aksnodeclasses' };

export const nodePoolCollection: Collection<NodePool> = {
  path: '/apis/karpenter.sh/v1/nodepools',
  list: pagedList('NodePool', nodePoolSchema, (api, page) =>
    api.custom.listClusterCustomObject({ ...resource, ...page }),
  ),
  parse: (object) => parseObject('NodePool', nodePoolSchema, object),
  key: ({ metadata }) => metadata.name,
};

export const nodeClassCollection: Collection<NodeClass> = {
  path: '/apis/karpenter.azure.com/v1beta1/aksnodeclasses',
  list: pagedList('AKSNodeClass', nodeClassSchema, (api, page) =>
    api.custom.listClusterCustomObject({ ...nodeClassResource, ...page }),
  ),
  parse: (object) => parseObject('AKSNodeClass', nodeClassSchema, object),
  key: ({ metadata }) => metadata.name,
};

/** The live NodePool, or undefined when there is none of that name. */
export async function readNodePool(api: KubernetesApi, name: string): Promise<NodePool | undefined> {
  const object = await requestIfFound<unknown>(`read NodePool ${name}`, () =>
    api.custom.getClusterCustomObject({ ...resource, name }),
  );
  return object === undefined ? undefined : parseObject('NodePool', nodePoolSchema, object);
}

/** The live NodeClass that a NodePool's template refers to; undefined when there is none, or it is no AKSNodeClass. */
export async function readNodeClass(api: KubernetesApi, nodePool: NodePool): Promise<NodeClass | undefined> {
  const { group, kind, name } = nodePool.spec.template.spec.nodeClassRef;
  if (group !== nodeClassResource.group || kind !== 'AKSNodeClass') return undefined;
  const object = await requestIfFound<unknown>(`read AKSNodeClass ${name}`, () =>
    api.custom.getClusterCustomObject({ ...nodeClassResource, name }),
  );
  return object === undefined ? undefined : parseObject('AKSNodeClass', nodeClassSchema, object);
}
