import type { KubeConfig } from '@kubernetes/client-node';
import { WorkflowClient } from '@temporalio/client';

import { readClusterId } from '../../activities/kubernetes/cluster.js';
import { Informer } from '../../activities/kubernetes/informer.js';
import { createKubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { nodeClaimCollection } from '../../activities/kubernetes/nodeClaims.js';
import { nodePoolCollection } from '../../activities/kubernetes/nodePools.js';
import type { TemporalSettings } from '../../activities/temporal/connection.js';
import { checkNamespace, connectToTemporal } from '../../activities/temporal/connection.js';
import type { NodeClaim } from '../../karpenter/api.js';
import { disruptionReasons } from '../../karpenter/candidate.js';
import { isTrue } from '../../karpenter/conditions.js';
import { managedAnnotation, nodePoolLabel } from '../../karpenter/labels.js';
import type { Log } from '../../runtime/log.js';
import { pokeRollout } from '../rollouts.js';
import { Pokes } from './pokes.js';

export interface WatcherConfiguration {
  readonly kubeConfig: KubeConfig;
  readonly temporal: TemporalSettings;
  readonly gatherMs: number;
  readonly retryDelayMs: number;
  readonly log: Log;
}

export interface RunningWatcher {
  readonly clusterId: string;
  stop(): Promise<void>;
}

/**
 * Watches NodeClaims and NodePools and pokes a pool's rollout when there may be something to do. It decides nothing and keeps no
 * state: at its start every pool with a disrupted NodeClaim is poked. Resolves when the first lists have been read.
 * @throws UserError when Temporal is not there or lacks something
 */
export async function startWatcher(configuration: WatcherConfiguration): Promise<RunningWatcher> {
  const { kubeConfig, temporal, gatherMs, retryDelayMs, log } = configuration;
  const kubernetes = createKubernetesApi(kubeConfig, 'driftless/watcher');
  const clusterId = await readClusterId(kubernetes);
  const connection = await connectToTemporal(temporal);
  await checkNamespace(connection, temporal.namespace);
  const workflows = new WorkflowClient({ connection, namespace: temporal.namespace });

  const nodePools = new Informer(kubernetes, nodePoolCollection, { retryDelayMs, log });
  await nodePools.synced;
  const pokes = new Pokes({
    gatherMs,
    retryDelayMs,
    log,
    send: (nodePool) => pokeRollout(workflows, clusterId, nodePool),
  });
  const pokeIfManaged = (nodePool: string | undefined): void => {
    if (nodePool === undefined) return;
    if (nodePools.get(nodePool)?.metadata.annotations?.[managedAnnotation] === 'true') pokes.poke(nodePool);
  };
  const nodeClaims = new Informer(kubernetes, nodeClaimCollection, { retryDelayMs, log });
  nodeClaims.onChange((event) => {
    if (event.type === 'deleted') {
      if (isDisrupted(event.object)) pokeIfManaged(poolOf(event.object));
      return;
    }
    // Told apart by what a rollout could decide on, so that a heartbeat of a status wakes nobody.
    if (
      event.previous === undefined
        ? isDisrupted(event.object)
        : isDisrupted(event.object) !== isDisrupted(event.previous)
    ) {
      pokeIfManaged(poolOf(event.object));
    }
  });
  nodePools.onChange((event) => {
    const { name } = event.object.metadata;
    const isWaiting = nodeClaims.list().some((nodeClaim) => poolOf(nodeClaim) === name && isDisrupted(nodeClaim));
    if (isWaiting) pokeIfManaged(name);
  });
  await nodeClaims.synced;
  log.info({ cluster: clusterId, namespace: temporal.namespace, address: temporal.address }, 'watcher started');
  return {
    clusterId,
    async stop() {
      await Promise.all([nodePools.stop(), nodeClaims.stop()]);
      await pokes.stop();
      await connection.close();
      log.info({ cluster: clusterId }, 'watcher stopped');
    },
  };
}

function poolOf({ metadata }: NodeClaim): string | undefined {
  return metadata.labels?.[nodePoolLabel];
}

function isDisrupted(nodeClaim: NodeClaim): boolean {
  return disruptionReasons.some((reason) => isTrue(nodeClaim, reason));
}
