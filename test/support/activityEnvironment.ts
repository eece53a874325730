import type { ActivityEnvironment } from '../../activities/environment.js';
import { readClusterId } from '../../activities/kubernetes/cluster.js';
import { KillSwitch } from '../../activities/killSwitch.js';
import { Informer } from '../../activities/kubernetes/informer.js';
import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { nodeClaimCollection } from '../../activities/kubernetes/nodeClaims.js';
import { nodeCollection } from '../../activities/kubernetes/nodes.js';
import { podDisruptionBudgetCollection } from '../../activities/kubernetes/podDisruptionBudgets.js';
import { podCollection } from '../../activities/kubernetes/pods.js';
import { demoSettings } from '../../demo/settings.js';
import { createLog } from '../../runtime/log.js';

export interface TestEnvironment {
  readonly environment: ActivityEnvironment;
  stop(): Promise<void>;
}

/** What the activities of a worker work with, its caches filled; nothing is too young to be replaced. */
export async function startActivityEnvironment(api: KubernetesApi): Promise<TestEnvironment> {
  const options = { retryDelayMs: 1, log: createLog('test', 'silent') };
  const nodeClaims = new Informer(api, nodeClaimCollection, options);
  const nodes = new Informer(api, nodeCollection, options);
  const pods = new Informer(api, podCollection, options);
  const podDisruptionBudgets = new Informer(api, podDisruptionBudgetCollection, options);
  const killSwitch = new KillSwitch(api, { namespace: 'kube-system', name: 'driftless' }, options);
  const informers = [nodeClaims, nodes, pods, podDisruptionBudgets, killSwitch];
  await Promise.all(informers.map(({ synced }) => synced));
  const settings = demoSettings(1).activities;
  return {
    environment: {
      clusterId: await readClusterId(api),
      owner: 'owner',
      kubernetes: api,
      nodeClaims,
      nodes,
      pods,
      podDisruptionBudgets,
      killSwitch,
      resourceSkus: { list: () => Promise.resolve([]) },
      settings: { ...settings, candidates: { ...settings.candidates, justStartedMs: 0 } },
    },
    async stop() {
      await Promise.all(informers.map((informer) => informer.stop()));
    },
  };
}
