import type { KubernetesApi } from '../activities/kubernetes/kubernetesApi.js';
import { listNodeClaims } from '../activities/kubernetes/nodeClaims.js';
import { readNodePool } from '../activities/kubernetes/nodePools.js';
import { listNodes } from '../activities/kubernetes/nodes.js';
import { isTrue } from '../karpenter/conditions.js';
import { allowedDisruptions } from '../karpenter/budget.js';
import { replacesAnnotation } from '../karpenter/labels.js';
import type { PhaseRow } from '../karpenter/phase.js';
import { readPhases } from '../karpenter/phase.js';
import { joinPool, takeCensus } from '../karpenter/pool.js';
import { nodePoolName } from './scenario.js';

/** The rollout as the cluster shows it at one instant. */
export interface Progress {
  readonly phases: readonly PhaseRow[];
  readonly disrupted: number;
  /** null: unbounded. */
  readonly allowed: number | null;
  readonly waiting: number;
  readonly replaced: number;
}

/** Reads the live cluster with the same pure code as the service. */
export async function readProgress(api: KubernetesApi, nodes: number): Promise<Progress> {
  const [nodePool, nodeClaims, nodeList] = await Promise.all([
    readNodePool(api, nodePoolName),
    listNodeClaims(api, nodePoolName),
    listNodes(api, nodePoolName),
  ]);
  if (nodePool === undefined) return { phases: [], disrupted: 0, allowed: null, waiting: 0, replaced: 0 };
  const pool = joinPool({ nodePool, nodeClaims, nodes: nodeList });
  const phases = readPhases(pool, new Set());
  const census = takeCensus(pool, new Set());
  const old = nodeClaims.filter(({ metadata }) => metadata.annotations?.[replacesAnnotation] === undefined);
  const drifted = old.filter((nodeClaim) => isTrue(nodeClaim, 'Drifted'));
  const underWay = new Set(phases.map(({ nodeClaim }) => nodeClaim));
  return {
    phases,
    disrupted: census.disrupted.length,
    allowed: allowedDisruptions(nodePool.spec.disruption?.budgets, census.nodes, 'Drifted', Date.now()).allowed,
    waiting: drifted.filter(({ metadata }) => !underWay.has(metadata.name)).length,
    replaced: nodes - old.length,
  };
}
