import { loadKubeConfig } from '../../activities/kubernetes/kubeConfig.js';
import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { createKubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { nodeClaimCollection } from '../../activities/kubernetes/nodeClaims.js';
import { nodeCollection } from '../../activities/kubernetes/nodes.js';
import { podDisruptionBudgetCollection } from '../../activities/kubernetes/podDisruptionBudgets.js';
import { podCollection } from '../../activities/kubernetes/pods.js';
import { readPool } from '../../activities/readPool.js';
import type { CandidateRules } from '../../karpenter/candidate.js';
import { unboundedCluster, viewCluster } from '../../karpenter/clusterView.js';
import type { ClusterView } from '../../karpenter/permits.js';
import type { Pool } from '../../karpenter/pool.js';
import type { CandidateOptions } from '../../runtime/driftlessOptions.js';

/** Options of the commands that judge candidates, as commander reads them. */
export interface JudgingOptions extends CandidateOptions {
  /** Without it the cluster-wide cap is not known. */
  readonly maxDisruptedNodes?: number;
}

/** One NodePool and what its candidates are judged by. */
export interface PoolReading {
  readonly pool: Pool;
  readonly cluster: ClusterView;
}

/** The API server that KUBECONFIG names. */
export function connectToCluster(): KubernetesApi {
  return createKubernetesApi(loadKubeConfig(process.env), 'driftless/cli');
}

/** The live NodePool with everything that is listed once, or undefined when there is none of that name. */
export async function readPoolOnce(
  kubernetes: KubernetesApi,
  nodePool: string,
  { maxDisruptedNodes }: JudgingOptions,
): Promise<PoolReading | undefined> {
  const [pods, podDisruptionBudgets] = await Promise.all([
    podCollection.list(kubernetes),
    podDisruptionBudgetCollection.list(kubernetes),
  ]);
  const pool = await readPool(
    { kubernetes, pods: { list: () => pods.items }, podDisruptionBudgets: { list: () => podDisruptionBudgets.items } },
    nodePool,
  );
  if (pool === undefined) return undefined;
  if (maxDisruptedNodes === undefined) return { pool, cluster: unboundedCluster };
  const [nodes, nodeClaims] = await Promise.all([
    nodeCollection.list(kubernetes),
    nodeClaimCollection.list(kubernetes),
  ]);
  const objects = { nodes: nodes.items, nodeClaims: nodeClaims.items, pods: pods.items };
  return { pool, cluster: viewCluster(objects, nodePool, maxDisruptedNodes) };
}

export function candidateRules({ expiryLead, justStarted, flap }: CandidateOptions): CandidateRules {
  return { expiryLeadMs: expiryLead, justStartedMs: justStarted, flapMs: flap };
}
