import { ApplicationFailure } from '@temporalio/common';
import type { LogEntry } from '@temporalio/worker';
import { DefaultLogger } from '@temporalio/worker';
import { MockActivityEnvironment } from '@temporalio/testing';

import type { ArmSettings } from '../../activities/azure/armClient.js';
import { ResourceSkus } from '../../activities/azure/resourceSkus.js';
import { VirtualMachines } from '../../activities/azure/virtualMachines.js';
import { KillSwitch } from '../../activities/killSwitch.js';
import { Informer } from '../../activities/kubernetes/informer.js';
import { createNodeClaim, nodeClaimCollection, updateNodeClaimStatus } from '../../activities/kubernetes/nodeClaims.js';
import { nodeCollection } from '../../activities/kubernetes/nodes.js';
import { podDisruptionBudgetCollection } from '../../activities/kubernetes/podDisruptionBudgets.js';
import { podCollection } from '../../activities/kubernetes/pods.js';
import type { ArmEnvironment } from '../../activities/launcher/arm/armEnvironment.js';
import { createArmLauncher } from '../../activities/launcher/arm/armLauncher.js';
import type { Launcher } from '../../activities/launcher/launcher.js';
import { demoSettings } from '../../demo/settings.js';
import type { NodeClaim, Requirement } from '../../karpenter/api.js';
import { managedAnnotation } from '../../karpenter/labels.js';
import type { Offering } from '../../karpenter/offering.js';
import { createLog } from '../../runtime/log.js';
import type { RequestEntry } from '../../simulator/azure/audit.js';
import type { AzureSimulator, AzureSimulatorOptions } from '../../simulator/azure/azureSimulator.js';
import { startAzureSimulator } from '../../simulator/azure/azureSimulator.js';
import { simulatedAzure } from '../../simulator/options.js';
import type { CreateRequest } from '../../workflows/activityInterfaces.js';
import type { ReplacementRef } from '../../workflows/replacementTypes.js';
import { createNode, startTestCluster } from '../simulator/behaviourHarness.js';
import type { TestCluster } from '../simulator/behaviourHarness.js';

const token = 'launcher-test';
export const speed = 200;
export const poolName = 'general-purpose';
export const ownOffering: Offering = {
  instanceType: 'Standard_D2as_v5',
  zone: 'westus2-1',
  capacityType: 'on-demand',
};

export interface WorldOptions
  extends
    Partial<Pick<AzureSimulatorOptions, 'faults' | 'vmCreateMs' | 'vmDeleteMs' | 'retryAfterSeconds'>>,
    Pick<ArmSettings, 'requestTimeoutMs' | 'throttle'> {
  readonly requirements?: readonly Requirement[];
  readonly offering?: Offering;
}

/** The simulated Azure and cluster with one node, `old`, and the launcher's activities as a worker would run them. */
export interface LauncherWorld {
  readonly azure: AzureSimulator;
  readonly cluster: TestCluster;
  readonly arm: ArmSettings;
  readonly environment: ArmEnvironment;
  readonly launcher: Launcher;
  readonly old: NodeClaim;
  readonly ref: ReplacementRef;
  /** What the activities have logged. */
  readonly logs: readonly LogEntry[];
  request(change?: Partial<CreateRequest>): CreateRequest;
  /** One attempt of an activity that was first scheduled so long ago. */
  attempt<T>(activity: () => Promise<T>, scheduledMsAgo?: number): Promise<T>;
  /** What an attempt fails with. */
  failure(activity: () => Promise<unknown>, scheduledMsAgo?: number): Promise<ApplicationFailure>;
  /** After how many milliseconds an attempt that has to wait wants the next one. */
  delayMs(activity: () => Promise<unknown>, scheduledMsAgo?: number): Promise<number>;
  /** Attempt after attempt, as Temporal makes them while one says that it waits. */
  untilDone<T>(activity: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const scheduleToCloseTimeoutMs = 60_000;

async function createObjects(cluster: TestCluster, offering: Offering, requirements: readonly Requirement[]) {
  const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' };
  const labels = {
    'karpenter.sh/nodepool': poolName,
    'node.kubernetes.io/instance-type': offering.instanceType,
    'topology.kubernetes.io/zone': offering.zone,
    'karpenter.sh/capacity-type': offering.capacityType,
    'kubernetes.io/arch': 'amd64',
  };
  await cluster.send('POST', '/apis/karpenter.sh/v1/nodepools', {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: poolName, annotations: { [managedAnnotation]: 'true' } },
    spec: { template: { spec: { nodeClassRef, requirements } } },
  });
  const nodeClaim = await createNodeClaim(cluster.api, 'old', {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'old', labels },
    spec: { nodeClassRef, requirements: [] },
  });
  const allocatable = { cpu: '1900m', memory: '7372Mi', pods: '110' };
  await updateNodeClaimStatus(cluster.api, 'old', nodeClaim.metadata.uid, () => ({ nodeName: 'aks-old', allocatable }));
  await createNode(cluster, 'aks-old', { labels, ...allocatable });
  const template = { adminUsername: 'azureuser', sshPublicKey: 'ssh-ed25519 AAAA test', subnetId: '/subscriptions/s' };
  await cluster.api.core.createNamespacedSecret({
    namespace: 'kube-system',
    body: {
      metadata: { name: 'template' },
      stringData: { 'template.json': JSON.stringify(template), bootstrap: '{{nodeLabels}} {{nodeTaints}}' },
    },
  });
  return nodeClaim;
}

/** For sweeps: all rollouts go on by themselves. */
export function noneStuck(): Promise<readonly []> {
  return Promise.resolve([]);
}

export async function startLauncherWorld(options: WorldOptions = {}): Promise<LauncherWorld> {
  const { requirements = [], offering = ownOffering, requestTimeoutMs, throttle, ...azureOptions } = options;
  const cluster = await startTestCluster();
  const azure = await startAzureSimulator({
    subscriptionId: simulatedAzure.subscriptionId,
    resourceGroups: [simulatedAzure.resourceGroup],
    location: simulatedAzure.location,
    token,
    speed,
    vmCreateMs: 20_000,
    vmDeleteMs: 5_000,
    ...azureOptions,
  });
  const old = await createObjects(cluster, offering, requirements);
  const informerOptions = { retryDelayMs: 50, log: createLog('launcher-test', 'error') };
  const nodeClaims = new Informer(cluster.api, nodeClaimCollection, informerOptions);
  const nodes = new Informer(cluster.api, nodeCollection, informerOptions);
  const pods = new Informer(cluster.api, podCollection, informerOptions);
  const podDisruptionBudgets = new Informer(cluster.api, podDisruptionBudgetCollection, informerOptions);
  const killSwitch = new KillSwitch(cluster.api, { namespace: 'kube-system', name: 'driftless' }, informerOptions);
  const informers = [nodeClaims, nodes, pods, podDisruptionBudgets, killSwitch];
  await Promise.all(informers.map(({ synced }) => synced));
  const demo = demoSettings(speed);
  const arm: ArmSettings = {
    ...simulatedAzure,
    endpoint: azure.endpoint,
    caPem: azure.caPem,
    createCredential: () => ({
      getToken: () => Promise.resolve({ token, expiresOnTimestamp: Date.now() + 3_600_000 }),
    }),
    throttle: throttle ?? demo.armThrottle,
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
  };
  const environment: ArmEnvironment = {
    clusterId: 'cluster',
    owner: 'owner',
    kubernetes: cluster.api,
    nodeClaims,
    nodes,
    pods,
    podDisruptionBudgets,
    killSwitch,
    resourceSkus: new ResourceSkus(arm),
    virtualMachines: new VirtualMachines(arm),
    templateSecret: { namespace: 'kube-system', name: 'template' },
    settings: demo.activities,
  };

  const logs: LogEntry[] = [];
  const logger = new DefaultLogger('INFO', (entry) => logs.push(entry));
  const attempt = <T>(activity: () => Promise<T>, scheduledMsAgo = 0): Promise<T> => {
    const scheduledTimestampMs = Date.now() - scheduledMsAgo;
    return new MockActivityEnvironment({ scheduledTimestampMs, scheduleToCloseTimeoutMs }, { logger }).run(activity);
  };
  const failure: LauncherWorld['failure'] = async (activity, scheduledMsAgo) => {
    try {
      await attempt(activity, scheduledMsAgo);
    } catch (error) {
      if (error instanceof ApplicationFailure) return error;
      throw error;
    }
    throw new Error('the activity did not fail');
  };
  return {
    azure,
    cluster,
    arm,
    environment,
    launcher: createArmLauncher(environment),
    old,
    logs,
    ref: {
      cluster: environment.clusterId,
      nodePool: poolName,
      nodeClaim: 'old',
      uid: old.metadata.uid,
      node: 'aks-old',
      reason: 'Drifted',
      round: 0,
      workflowId: 'replace/cluster/old',
    },
    request: (change) => ({
      round: 0,
      attempt: 0,
      offering,
      imageId: '/images/one',
      requests: { cpu: '1' },
      ...change,
    }),
    attempt,
    failure,
    async delayMs(activity, scheduledMsAgo) {
      const waiting = await failure(activity, scheduledMsAgo);
      if (waiting.type !== 'Waiting') throw waiting;
      return Number(waiting.nextRetryDelay);
    },
    async untilDone(activity) {
      const scheduledMs = Date.now();
      for (;;) {
        try {
          return await attempt(activity, Date.now() - scheduledMs);
        } catch (error) {
          if (!(error instanceof ApplicationFailure) || error.type !== 'Waiting') throw error;
          await new Promise((resolve) => setTimeout(resolve, Number(error.nextRetryDelay)));
        }
      }
    },
    async close() {
      await Promise.all(informers.map((informer) => informer.stop()));
      await azure.close();
      await cluster.close();
    },
  };
}

/** How often ARM was asked to create a VM. */
export function putCount(world: LauncherWorld): number {
  return armRequests(world, 'PUT').length;
}

/** What ARM was asked, oldest first. */
export function armRequests({ azure }: LauncherWorld, method: 'PUT' | 'GET' | 'DELETE'): readonly RequestEntry[] {
  return azure.audit.entries.filter(
    (entry): entry is RequestEntry => entry.kind === 'request' && entry.method === method,
  );
}

/** The reads of operations, oldest first. */
export function operationReads(world: LauncherWorld): readonly RequestEntry[] {
  return armRequests(world, 'GET').filter(({ path }) => path.toLowerCase().includes('/operations/'));
}
