import type { KubeConfig } from '@kubernetes/client-node';
import { WorkflowClient } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import type { WorkerOptions } from '@temporalio/worker';
import { NativeConnection, Worker } from '@temporalio/worker';

import type { ArmSettings } from '../activities/azure/armClient.js';
import { ResourceSkus } from '../activities/azure/resourceSkus.js';
import type { ThrottleBounds } from '../activities/azure/throttle.js';
import { VirtualMachines } from '../activities/azure/virtualMachines.js';
import type { ActivitySettings } from '../activities/environment.js';
import type { KillSwitchName } from '../activities/killSwitch.js';
import { KillSwitch } from '../activities/killSwitch.js';
import { readClusterId } from '../activities/kubernetes/cluster.js';
import { Informer } from '../activities/kubernetes/informer.js';
import { createKubernetesApi } from '../activities/kubernetes/kubernetesApi.js';
import { nodeClaimCollection } from '../activities/kubernetes/nodeClaims.js';
import { nodeCollection } from '../activities/kubernetes/nodes.js';
import { podDisruptionBudgetCollection } from '../activities/kubernetes/podDisruptionBudgets.js';
import { podCollection } from '../activities/kubernetes/pods.js';
import { createArmLauncher } from '../activities/launcher/arm/armLauncher.js';
import { whyCutOff } from '../activities/readiness.js';
import type { SweepSettings } from '../activities/sweep.js';
import { createSweepActivities } from '../activities/sweep.js';
import { createRolloutActivities } from '../activities/observePool.js';
import { createArmWriteActivities, createReplacementActivities } from '../activities/replacementActivities.js';
import type { TemporalSettings } from '../activities/temporal/connection.js';
import { checkNamespace, connectToTemporal } from '../activities/temporal/connection.js';
import { isWorkflowRunning } from '../activities/temporal/running.js';
import { resetStuckRollouts } from '../activities/temporal/stuckRollouts.js';
import type { Log } from '../runtime/log.js';
import type { Service } from '../runtime/service.js';
import { armWritesTaskQueueName, taskQueueName } from '../workflows/ids.js';
import { handOverAtStop } from './handOver.js';
import { heartbeats } from './heartbeats.js';
import { ensureSweepSchedule } from './sweepSchedule.js';

export interface WorkerConfiguration {
  readonly kubeConfig: KubeConfig;
  readonly temporal: TemporalSettings;
  readonly arm: ArmSettings;
  readonly templateSecret: { readonly namespace: string; readonly name: string };
  /** The ConfigMap that stops everything. */
  readonly killSwitch: KillSwitchName;
  readonly armWritesPerSecond: number;
  readonly settings: ActivitySettings;
  readonly sweep: SweepSettings & { readonly intervalMs: number };
  readonly timeouts: WorkerTimeouts;
  /** How long ARM is left alone after a 429. */
  readonly armThrottle: ThrottleBounds;
  /** Path of the pre-built bundle of the workflows. */
  readonly workflowBundle: string;
  /** With it Temporal gives tasks only to workers of the deployment's current version. */
  readonly deploymentVersion?: WorkerDeploymentVersion | undefined;
  readonly log: Log;
}

/** How long a worker waits for those that it talks to, in milliseconds. */
export interface WorkerTimeouts {
  /** For one request to the API server. */
  readonly kubernetesRequestMs: number;
  /** For one request to ARM. */
  readonly armRequestMs: number;
  /** A workflow's worker that does not answer for so long is taken for dead, and another one takes the workflow over. */
  readonly stickyQueueMs: number;
  /** For running attempts of activities to end at a stop; what has not ended then is handed over. */
  readonly shutdownGraceMs: number;
}

export interface RunningWorker extends Service {
  readonly clusterId: string;
  /** Settles when the worker has stopped; rejects when it failed. */
  readonly stopped: Promise<void>;
  /** Takes no more tasks, gives running activities their grace time, hands over the rest, and lets go of all connections. */
  stop(): Promise<void>;
}

const informerRetryDelayMs = 1_000;

/**
 * Starts to serve one cluster: workflows and activities on its task queue, ARM writes on theirs. Resolves when the caches are filled
 * and the worker polls.
 * @throws UserError when Temporal is not there or lacks something
 */
export async function startWorker(configuration: WorkerConfiguration): Promise<RunningWorker> {
  const { kubeConfig, temporal, log, settings, timeouts } = configuration;
  const userAgent = 'driftless/worker';
  const informerOptions = { retryDelayMs: informerRetryDelayMs, log };
  const requestTimeoutMs = timeouts.kubernetesRequestMs;
  const reader = createKubernetesApi(kubeConfig, userAgent, { requestTimeoutMs });
  const killSwitch = new KillSwitch(reader, configuration.killSwitch, informerOptions);
  const checkMayChange = (): void => {
    killSwitch.check();
  };
  const kubernetes = createKubernetesApi(kubeConfig, userAgent, { checkMayChange, requestTimeoutMs });
  const clusterId = await readClusterId(kubernetes);
  const clientConnection = await connectToTemporal(temporal);
  const owner = await checkNamespace(clientConnection, temporal.namespace);
  const connection = await NativeConnection.connect(temporal.connection);

  const nodeClaims = new Informer(kubernetes, nodeClaimCollection, informerOptions);
  const nodes = new Informer(kubernetes, nodeCollection, informerOptions);
  const pods = new Informer(kubernetes, podCollection, informerOptions);
  const podDisruptionBudgets = new Informer(kubernetes, podDisruptionBudgetCollection, informerOptions);
  const informers = [nodeClaims, nodes, pods, podDisruptionBudgets, killSwitch];
  await Promise.all(informers.map(({ synced }) => synced));

  const arm = { ...configuration.arm, requestTimeoutMs: timeouts.armRequestMs, throttle: configuration.armThrottle };
  const environment = {
    clusterId,
    owner,
    kubernetes,
    nodeClaims,
    nodes,
    pods,
    podDisruptionBudgets,
    killSwitch,
    settings,
    resourceSkus: new ResourceSkus(arm),
    virtualMachines: new VirtualMachines({ ...arm, checkMayChange }),
    templateSecret: configuration.templateSecret,
  };
  const launcher = createArmLauncher(environment);
  const workflows = new WorkflowClient({ connection: clientConnection, namespace: temporal.namespace });
  const common = {
    connection,
    namespace: temporal.namespace,
    shutdownGraceTime: timeouts.shutdownGraceMs,
    interceptors: { activity: [heartbeats, handOverAtStop] },
    ...versioning(configuration.deploymentVersion),
  };
  const worker = await Worker.create({
    ...common,
    taskQueue: taskQueueName(clusterId),
    workflowBundle: { codePath: configuration.workflowBundle },
    stickyQueueScheduleToStartTimeout: timeouts.stickyQueueMs,
    activities: {
      ...createRolloutActivities(environment, workflows),
      ...createReplacementActivities(environment, launcher),
      ...createSweepActivities(
        environment,
        (workflowId) => isWorkflowRunning(workflows, workflowId),
        environment.virtualMachines,
        configuration.sweep,
        (cluster) => resetStuckRollouts(workflows, cluster),
      ),
    },
  });
  const armWriter = await Worker.create({
    ...common,
    taskQueue: armWritesTaskQueueName(clusterId),
    activities: { ...createArmWriteActivities(environment, launcher) },
    maxTaskQueueActivitiesPerSecond: configuration.armWritesPerSecond,
  });
  await ensureSweepSchedule(clientConnection, temporal.namespace, clusterId, configuration.sweep.intervalMs);
  log.info({ cluster: clusterId, namespace: temporal.namespace, address: temporal.address }, 'worker started');

  const workers = [worker, armWriter];
  const stopped = Promise.all(workers.map((one) => one.run())).then(async () => {
    await Promise.all(informers.map((informer) => informer.stop()));
    await connection.close();
    await clientConnection.close();
    log.info({ cluster: clusterId }, 'worker stopped');
  });
  return {
    clusterId,
    stopped,
    async whyNotReady() {
      if (workers.some((one) => one.getState() !== 'RUNNING')) return 'stopping';
      return await whyCutOff(informers, clientConnection, temporal);
    },
    async stop() {
      for (const one of workers) if (one.getState() === 'RUNNING') one.shutdown();
      await stopped;
    },
  };
}

/** Rollouts live as long as there is work: pinned to a version they would wait for workers that are gone. */
function versioning(version: WorkerDeploymentVersion | undefined): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (version === undefined) return {};
  return {
    workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' },
  };
}
