import { managedAnnotation } from '../../karpenter/labels.js';
import { seeRollout } from '../rollouts.js';
import { withRollouts } from './clusterSession.js';
import { withKubernetes } from './kubernetesSession.js';
import { listManagedNodePools, readManagedNodePool } from './managedNodePools.js';
import { printLines } from './printLines.js';
import type { StatusReport } from './statusReport.js';
import { statusLines } from './statusReport.js';

/** Options of `driftless status` as commander reads them. */
export interface StatusOptions {
  readonly output: 'text' | 'json';
}

/**
 * Prints what the rollouts of the managed NodePools do.
 * @param name one NodePool only
 * @throws UserError when the NodePool is not managed, or Kubernetes or Temporal do not answer
 */
export async function runStatus(name: string | undefined, { output }: StatusOptions): Promise<void> {
  const report = await withKubernetes(async (kubernetes): Promise<StatusReport> => {
    const pools =
      name === undefined ? await listManagedNodePools(kubernetes) : [await readManagedNodePool(kubernetes, name)];
    return await withRollouts(kubernetes, async ({ workflows, cluster }) => {
      const nodePools = pools.map(async ({ metadata: { name: nodePool } }) => ({
        nodePool,
        rollout: await seeRollout(workflows, cluster, nodePool),
      }));
      return { cluster, nodePools: await Promise.all(nodePools) };
    });
  });
  if (output === 'json') printLines(JSON.stringify(report, null, 2));
  else if (report.nodePools.length === 0) printLines(`No NodePool is annotated ${managedAnnotation}: "true".`);
  else printLines(...statusLines(report));
}
