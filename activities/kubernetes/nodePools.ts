import type { NodeClass, NodePool } from '../../karpenter/api.js';
import { nodeClassSchema, nodePoolSchema } from '../../karpenter/api.js';
import type { Collection } from './informer.js';
import type { KubernetesApi } from './kubernetesApi.js';
import { parseList, parseObject } from './parse.js';
import { request, requestIfFound } from './request.js';

const resource = { group: 'karpenter.sh', version: 'v1', plural: 'nodepools' };

export const nodePoolCollection: Collection<NodePool> = {
  path: '/apis/karpenter.sh/v1/nodepools',
  list: async (api) =>
    parseList(
      'NodePool',
      nodePoolSchema,
      await request('list NodePools', () => api.custom.listClusterCustomObject(resource)),
    ),
  parse: (object) => parseObject('NodePool', nodePoolSchema, object),
  key: ({ metadata }) => metadata.name,
};

/** The live NodePool, or undefined when there is none of that name. */
export async function readNodePool(api: KubernetesApi, name: string): Promise<NodePool | undefined> {
  const object = await requestIfFound<unknown>(`read NodePool ${name}`, () =>
    api.custom.getClusterCustomObject({ ...resource, name }),
  );
  return object === undefined ? undefined : parseObject('NodePool', nodePoolSchema, object);
}

/** The live NodeClass that a NodePool's template refers to; only AKSNodeClass is known. */
export async function readNodeClass(api: KubernetesApi, nodePool: NodePool): Promise<NodeClass | undefined> {
  const { group, kind, name } = nodePool.spec.template.spec.nodeClassRef;
  if (group !== 'karpenter.azure.com' || kind !== 'AKSNodeClass') {
    throw new Error(
      `NodePool ${nodePool.metadata.name}: nodeClassRef ${group}/${kind} is not karpenter.azure.com/AKSNodeClass`,
    );
  }
  const object = await requestIfFound<unknown>(`read AKSNodeClass ${name}`, () =>
    api.custom.getClusterCustomObject({ group, version: 'v1beta1', plural: 'aksnodeclasses', name }),
  );
  return object === undefined ? undefined : parseObject('AKSNodeClass', nodeClassSchema, object);
}
