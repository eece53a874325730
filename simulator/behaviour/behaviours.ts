import type { KubeConfig } from '@kubernetes/client-node';

import { createKubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import type { Log } from '../../runtime/log.js';
import type { Behaviour, BehaviourContext } from './behaviour.js';
import { DeploymentController } from './deployment.js';
import { Drift } from './drift.js';
import { Kubelets } from './kubelets.js';
import type { MachineFeedOptions } from './machineFeed.js';
import { MachineFeed } from './machineFeed.js';
import { NodeLease } from './nodeLease.js';
import { NodeLifecycle } from './nodeLifecycle.js';
import { ParallelLimit } from './parallelLimit.js';
import { DisruptionController } from './podDisruptionBudget.js';
import { PodGarbageCollector } from './podGarbageCollector.js';
import { ReplicaSetController } from './replicaSet.js';
import { Scheduler } from './scheduler.js';
import { SharedInformers } from './sharedInformers.js';
import { StartupTaint } from './startupTaint.js';

/** Of each behaviour. */
const parallelRequests = 32;

export const behaviourNames = [
  'kubelet',
  'nodeLease',
  'nodeLifecycle',
  'podGarbageCollector',
  'scheduler',
  'deployment',
  'replicaSet',
  'podDisruptionBudget',
  'startupTaint',
  'drift',
] as const;
/** One part of the cluster. */
export type BehaviourName = (typeof behaviourNames)[number];

export interface BehaviourOptions {
  readonly kubeConfig: KubeConfig;
  readonly log: Log;
  /** Divides all the durations below, which are in simulated milliseconds. */
  readonly speed: number;
  /** From the machine's start to its Node's being Ready. */
  readonly nodeBootMs: number;
  /** From a pod's binding to its being Running and Ready. */
  readonly podStartMs: number;
  /** From a pod's deletionTimestamp to its end; never longer than its grace period. */
  readonly podTerminationMs: number;
  /** Where the ARM simulator says which machines run. Without it there are no kubelets, and no Node is ever lost. */
  readonly machines?: MachineFeedOptions;
  /** The parts that others play, or nobody looks at: only a real node lifecycle controller asks for Leases, for example. */
  readonly skip?: readonly BehaviourName[];
}

export interface Behaviours {
  stop(): Promise<void>;
}

function createBehaviour(
  name: BehaviourName,
  context: BehaviourContext,
  options: BehaviourOptions,
  feed: MachineFeed | undefined,
): Behaviour | undefined {
  switch (name) {
    case 'kubelet':
      return feed === undefined ? undefined : new Kubelets(context, feed, options);
    case 'nodeLease':
      return feed === undefined ? undefined : new NodeLease(context, feed);
    case 'nodeLifecycle':
      return new NodeLifecycle(context, feed);
    case 'podGarbageCollector':
      return new PodGarbageCollector(context);
    case 'scheduler':
      return new Scheduler(context);
    case 'deployment':
      return new DeploymentController(context);
    case 'replicaSet':
      return new ReplicaSetController(context);
    case 'podDisruptionBudget':
      return new DisruptionController(context);
    case 'startupTaint':
      return new StartupTaint(context);
    case 'drift':
      return new Drift(context);
  }
}

/**
 * Makes an API server behave as a cluster, as its ordinary client: runs the same against the in-memory API and a real kube-apiserver.
 * Resolves when all informers have synced: while the API server does not answer it waits, and the log says so.
 */
export async function startBehaviours(options: BehaviourOptions): Promise<Behaviours> {
  const { kubeConfig, speed } = options;
  const skipped = new Set(options.skip);
  const log = options.log.child({ component: 'behaviours' });
  const informers = new SharedInformers(createKubernetesApi(kubeConfig, 'driftless-simulator/informers'), log);
  const feed = options.machines === undefined ? undefined : new MachineFeed(options.machines, log);
  const behaviours = behaviourNames
    .filter((name) => !skipped.has(name))
    .map((name) => {
      const context = {
        api: createKubernetesApi(kubeConfig, `driftless-simulator/${name}`),
        limit: new ParallelLimit(parallelRequests),
        informers,
        log: log.child({ behaviour: name }),
        speed,
      };
      return createBehaviour(name, context, options, feed);
    })
    .filter((behaviour) => behaviour !== undefined);
  await informers.synced();
  for (const behaviour of behaviours) behaviour.start();
  feed?.start();
  return {
    async stop() {
      await feed?.stop();
      await Promise.all(behaviours.map((behaviour) => behaviour.stop()));
      await informers.stop();
    },
  };
}
