import type { KubeConfig } from '@kubernetes/client-node';
import { WorkflowClient } from '@temporalio/client';

import type { KillSwitchName } from '../../activities/killSwitch.js';
import { KillSwitch } from '../../activities/killSwitch.js';
import { readClusterId } from '../../activities/kubernetes/cluster.js';
import { Informer } from '../../activities/kubernetes/informer.js';
import { createKubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { nodeClaimCollection } from '../../activities/kubernetes/nodeClaims.js';
import { nodeClassCollection, nodePoolCollection } from '../../activities/kubernetes/nodePools.js';
import { nodeCollection } from '../../activities/kubernetes/nodes.js';
import { podDisruptionBudgetCollection } from '../../activities/kubernetes/podDisruptionBudgets.js';
import { podCollection } from '../../activities/kubernetes/pods.js';
import { whyCutOff } from '../../activities/readiness.js';
import type { TemporalSettings } from '../../activities/temporal/connection.js';
import { checkNamespace, connectToTemporal } from '../../activities/temporal/connection.js';
import type { Log } from '../../runtime/log.js';
import type { Service } from '../../runtime/service.js';
import { pokeRollout } from '../rollouts.js';
import { Pokes } from './pokes.js';
import { watchPools } from './watchPools.js';

export interface WatcherConfiguration {
  readonly kubeConfig: KubeConfig;
  readonly temporal: TemporalSettings;
  /** A node is to be replaced so long before its expireAfter: as the worker's. */
  readonly expiryLeadMs: number;
  readonly killSwitch: KillSwitchName;
  readonly gatherMs: number;
  /** So often pools that have something to do are poked without an event. */
  readonly resyncMs: number;
  readonly retryDelayMs: number;
  readonly log: Log;
}

export interface RunningWatcher extends Service {
  readonly clusterId: string;
}

/**
 * Watches what rollouts decide on and pokes a pool's rollout when there may be something to do. It decides nothing and keeps no state:
 * at its start every pool with a disrupted NodeClaim is poked. Resolves when the first lists have been read.
 * @throws UserError when Temporal is not there or lacks something
 */
export async function startWatcher(configuration: WatcherConfiguration): Promise<RunningWatcher> {
  const { kubeConfig, temporal, expiryLeadMs, gatherMs, resyncMs, retryDelayMs, log } = configuration;
  const kubernetes = createKubernetesApi(kubeConfig, 'driftless/watcher');
  const clusterId = await readClusterId(kubernetes);
  const connection = await connectToTemporal(temporal);
  await checkNamespace(connection, temporal.namespace);
  const workflows = new WorkflowClient({ connection, namespace: temporal.namespace });

  const options = { retryDelayMs, log };
  const sources = {
    nodePools: new Informer(kubernetes, nodePoolCollection, options),
    nodeClasses: new Informer(kubernetes, nodeClassCollection, options),
    nodeClaims: new Informer(kubernetes, nodeClaimCollection, options),
    nodes: new Informer(kubernetes, nodeCollection, options),
    pods: new Informer(kubernetes, podCollection, options),
    podDisruptionBudgets: new Informer(kubernetes, podDisruptionBudgetCollection, options),
  };
  const { nodePools, nodeClasses, nodeClaims, nodes, pods, podDisruptionBudgets } = sources;
  const killSwitch = new KillSwitch(kubernetes, configuration.killSwitch, options);
  const informers = [nodePools, nodeClasses, nodeClaims, nodes, pods, podDisruptionBudgets, killSwitch];
  await Promise.all(informers.map(({ synced }) => synced));
  const pokes = new Pokes({
    gatherMs,
    retryDelayMs,
    log,
    send: (nodePool) => pokeRollout(workflows, clusterId, nodePool),
  });
  const stopWatching = watchPools({ ...sources, killSwitch }, { expiryLeadMs, resyncMs }, (nodePool) => {
    pokes.poke(nodePool);
  });
  log.info({ cluster: clusterId, namespace: temporal.namespace, address: temporal.address }, 'watcher started');
  return {
    clusterId,
    whyNotReady: () => whyCutOff(informers, connection, temporal),
    async stop() {
      stopWatching();
      await Promise.all(informers.map((informer) => informer.stop()));
      await pokes.stop();
      await connection.close();
      log.info({ cluster: clusterId }, 'watcher stopped');
    },
  };
}
