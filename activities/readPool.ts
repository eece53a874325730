import type { NodePool, Pod, PodDisruptionBudget } from '../karpenter/api.js';
import type { Pool } from '../karpenter/pool.js';
import { joinPool } from '../karpenter/pool.js';
import { listNodeClaims } from './kubernetes/nodeClaims.js';
import { readNodeClass, readNodePool } from './kubernetes/nodePools.js';
import type { KubernetesApi } from './kubernetes/kubernetesApi.js';
import { listNodes } from './kubernetes/nodes.js';

/** Where a pool is read from; the lists are caches, or what was listed just now. */
export interface PoolSource {
  readonly kubernetes: KubernetesApi;
  readonly pods: { list(): readonly Pod[] };
  readonly podDisruptionBudgets: { list(): readonly PodDisruptionBudget[] };
}

/**
 * One NodePool as a whole, or undefined when there is none of that name. What the budget counts is read live; pods come from the cache,
 * since a look must not cost a request for each node: whoever is chosen by them is checked live by reserve.
 */
export async function readPool(source: PoolSource, name: string): Promise<Pool | undefined> {
  const nodePool = await readNodePool(source.kubernetes, name);
  return nodePool === undefined ? undefined : await readPoolOf(source, nodePool);
}

async function readPoolOf({ kubernetes, pods, podDisruptionBudgets }: PoolSource, nodePool: NodePool): Promise<Pool> {
  const { name } = nodePool.metadata;
  const [nodeClass, nodeClaims, nodes] = await Promise.all([
    readNodeClass(kubernetes, nodePool),
    listNodeClaims(kubernetes, name),
    listNodes(kubernetes, name),
  ]);
  return joinPool({
    nodePool,
    nodeClass,
    nodeClaims,
    nodes,
    pods: pods.list(),
    podDisruptionBudgets: podDisruptionBudgets.list(),
  });
}
