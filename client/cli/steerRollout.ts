import { cancelReplacements, updateRollout } from '../rollouts.js';
import type { Asker } from '../../workflows/messages.js';
import { pauseUpdate, resumeUpdate, retryUpdate, skipUpdate } from '../../workflows/messages.js';
import type { RolloutsOfCluster } from './clusterSession.js';
import { withRollouts } from './clusterSession.js';
import { withKubernetes } from './kubernetesSession.js';
import { readManagedNodePool } from './managedNodePools.js';
import { printLines } from './printLines.js';
import { wrapText } from './textTable.js';

/** Asks the rollout of a managed NodePool for something and prints what it answers. All throw UserError when it refuses. */
async function steer(nodePool: string, ask: (rollouts: RolloutsOfCluster) => Promise<string>): Promise<void> {
  const answer = await withKubernetes(async (kubernetes) => {
    await readManagedNodePool(kubernetes, nodePool);
    return await withRollouts(kubernetes, ask);
  });
  printLines(...wrapText(answer));
}

export async function pauseRollout(nodePool: string, asker: Asker): Promise<void> {
  await steer(nodePool, async ({ workflows, cluster }) => {
    const { by, why, since } = await updateRollout(workflows, cluster, nodePool, pauseUpdate, asker);
    const isOther = by !== asker.by || why !== asker.why;
    return isOther
      ? `NodePool ${nodePool} was paused already, by ${by} since ${since}: ${why}. That pause stands.`
      : `NodePool ${nodePool} is paused: nothing starts any more, what is under way goes on to its end.`;
  });
}

export async function resumeRollout(nodePool: string, asker: Asker): Promise<void> {
  await steer(nodePool, async ({ workflows, cluster }) => {
    await updateRollout(workflows, cluster, nodePool, resumeUpdate, asker);
    return `NodePool ${nodePool} goes on.`;
  });
}

/** @param nodeClaim undefined: all that failed or were skipped */
export async function retryReplacements(
  nodePool: string,
  nodeClaim: string | undefined,
  asker: Partial<Asker>,
): Promise<void> {
  await steer(nodePool, async ({ workflows, cluster }) => {
    const request = { ...asker, ...(nodeClaim === undefined ? {} : { nodeClaim }) };
    const { retried } = await updateRollout(workflows, cluster, nodePool, retryUpdate, request);
    return retried.length === 0
      ? `NodePool ${nodePool}: nothing had failed or been skipped.`
      : `NodePool ${nodePool} starts as soon as a permit is free: ${retried.join(', ')}.`;
  });
}

/** @param untilMs epoch milliseconds */
export async function skipNodeClaim(nodePool: string, nodeClaim: string, untilMs: number, asker: Asker): Promise<void> {
  await steer(nodePool, async ({ workflows, cluster }) => {
    const request = { ...asker, nodeClaim, until: new Date(untilMs).toISOString() };
    const { until } = await updateRollout(workflows, cluster, nodePool, skipUpdate, request);
    return `NodeClaim ${nodeClaim} is left alone until ${until}.`;
  });
}

/** @param nodeClaim undefined: all that are under way */
export async function cancelUnderWay(nodePool: string, nodeClaim: string | undefined, asker: Asker): Promise<void> {
  await steer(nodePool, async ({ workflows, cluster }) => {
    const request = { ...asker, ...(nodeClaim === undefined ? {} : { nodeClaim }) };
    const answer = await cancelReplacements(workflows, cluster, nodePool, request);
    if (answer === undefined) return `NodePool ${nodePool}: no rollout runs, there is nothing to cancel.`;
    const { canceled } = answer;
    return canceled.length === 0
      ? `NodePool ${nodePool}: no replacement is under way.`
      : `Asked to undo what can still be undone; not tried again before "driftless retry": ${canceled.join(', ')}.`;
  });
}
