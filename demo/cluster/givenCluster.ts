import { readKubeConfig } from '../../activities/kubernetes/kubeConfig.js';
import { createKubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { namingTheServer } from '../../activities/kubernetes/serverErrors.js';
import { UserError } from '../../runtime/errors.js';
import type { Log } from '../../runtime/log.js';
import { neededCrds } from '../controlPlane/assets.js';
import { installCrds, removeCrds } from '../controlPlane/installCrds.js';
import { demoLabels } from '../scenario.js';
import type { DemoCluster } from './demoCluster.js';
import { demoSelector, findInhabitants, removeOwnObjects } from './demoObjects.js';
import { WatchedFacts } from './watchedFacts.js';

const shownInhabitants = 3;

/**
 * Takes a cluster that is there, whole but for Nodes: with its own controllers and scheduler. CRDs that it lacks are installed. When it
 * is closed, everything that the demo has made there is removed.
 * @param path of its kubeconfig
 * @param tell told what takes its time
 * @throws UserError when it does not answer, or when anything is at work there that is not the demo's own from before
 */
export async function takeGivenCluster(
  path: string,
  environment: NodeJS.ProcessEnv,
  log: Log,
  tell: (text: string) => void,
): Promise<DemoCluster> {
  const kubeConfig = readKubeConfig('--kubeconfig', [path]);
  const api = createKubernetesApi(kubeConfig, 'driftless/demo');
  const clear = async (): Promise<void> => {
    await removeOwnObjects(api);
    await removeCrds(api, demoSelector);
  };
  const { others, hasOwn } = await namingTheServer(api, () => findInhabitants(api));
  if (others.length > 0) {
    const more = others.length > shownInhabitants ? ` and ${others.length - shownInhabitants} more` : '';
    throw new UserError(
      `--kubeconfig ${path}: the cluster has ${others.slice(0, shownInhabitants).join(', ')}${more}, which the demo did not make: it needs one without Nodes, NodeClaims and NodePools`,
    );
  }
  if (hasOwn) {
    tell('Removing what an earlier run has left');
    await clear();
  }
  await installCrds(api, await neededCrds(environment), demoLabels);
  const watched = await WatchedFacts.start(api, log);
  return {
    kubeConfig,
    // A node lifecycle controller is one of those that it has.
    skip: ['nodeLifecycle', 'podGarbageCollector', 'scheduler', 'deployment', 'replicaSet', 'podDisruptionBudget'],
    auditEntries: () => Promise.resolve(undefined),
    facts: () => Promise.resolve(watched.facts()),
    async close() {
      await watched.stop();
      await clear();
    },
  };
}
