import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { nodePoolCollection, readNodePool } from '../../activities/kubernetes/nodePools.js';
import type { NodePool } from '../../karpenter/api.js';
import { managedAnnotation } from '../../karpenter/labels.js';
import { isManaged } from '../../karpenter/pool.js';
import { UserError } from '../../runtime/errors.js';

/** The NodePools whose nodes Driftless may replace, by name. */
export async function listManagedNodePools(kubernetes: KubernetesApi): Promise<readonly NodePool[]> {
  const { items } = await nodePoolCollection.list(kubernetes);
  return items.filter(isManaged).sort((a, b) => a.metadata.name.localeCompare(b.metadata.name, 'en'));
}

/** @throws UserError when there is no such NodePool, or Driftless may not touch it */
export async function readManagedNodePool(kubernetes: KubernetesApi, name: string): Promise<NodePool> {
  const nodePool = await readNodePool(kubernetes, name);
  if (nodePool === undefined) throw new UserError(`NodePool ${name} does not exist`);
  if (!isManaged(nodePool)) throw new UserError(`NodePool ${name} is not annotated ${managedAnnotation}: "true"`);
  return nodePool;
}
