import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { readPausedWhy } from '../../activities/kubernetes/pausedConfigMap.js';
import { nodeClaimCollection } from '../../activities/kubernetes/nodeClaims.js';
import { nodeCollection } from '../../activities/kubernetes/nodes.js';
import { podDisruptionBudgetCollection } from '../../activities/kubernetes/podDisruptionBudgets.js';
import { podCollection } from '../../activities/kubernetes/pods.js';
import { readPool } from '../../activities/readPool.js';
import type { Pod } from '../../karpenter/api.js';
import type { CandidateRules } from '../../karpenter/candidate.js';
import { unboundedCluster, viewCluster } from '../../karpenter/clusterView.js';
import type { ClusterView } from '../../karpenter/permits.js';
import type { Pool } from '../../karpenter/pool.js';
import type { CandidateOptions } from '../../runtime/driftlessOptions.js';

/** Options of the commands that judge candidates, as commander reads them. */
export interface JudgingOptions extends CandidateOptions {
  /** Without it the cluster-wide cap is not known. */
  readonly maxDisruptedNodes?: number;
  readonly killSwitch: { readonly namespace: string; readonly name: string };
}

/** One NodePool, and what its candidates are judged by beside it. */
export interface PoolReading {
  readonly pool: Pool;
  readonly cluster: ClusterView;
  readonly rules: CandidateRules;
  /** The kill switch stands against every change. */
  readonly pausedWhy: string | undefined;
}

/** The live NodePool with everything that is listed once, or undefined when there is none of that name. */
export async function readPoolOnce(
  kubernetes: KubernetesApi,
  nodePool: string,
  options: JudgingOptions,
): Promise<PoolReading | undefined> {
  const [pods, podDisruptionBudgets, pausedWhy] = await Promise.all([
    podCollection.list(kubernetes),
    podDisruptionBudgetCollection.list(kubernetes),
    readPausedWhy(kubernetes, options.killSwitch),
  ]);
  const pool = await readPool(
    { kubernetes, pods: { list: () => pods.items }, podDisruptionBudgets: { list: () => podDisruptionBudgets.items } },
    nodePool,
  );
  if (pool === undefined) return undefined;
  const { expiryLead, justStarted, flap, maxDisruptedNodes } = options;
  const rules = { expiryLeadMs: expiryLead, justStartedMs: justStarted, flapMs: flap };
  const cluster =
    maxDisruptedNodes === undefined
      ? unboundedCluster
      : await readCluster(kubernetes, nodePool, pods.items, maxDisruptedNodes);
  return { pool, cluster, rules, pausedWhy };
}

async function readCluster(
  kubernetes: KubernetesApi,
  nodePool: string,
  pods: readonly Pod[],
  maxDisruptedNodes: number,
): Promise<ClusterView> {
  const [nodes, nodeClaims] = await Promise.all([
    nodeCollection.list(kubernetes),
    nodeClaimCollection.list(kubernetes),
  ]);
  return viewCluster({ nodes: nodes.items, nodeClaims: nodeClaims.items, pods }, nodePool, maxDisruptedNodes);
}
