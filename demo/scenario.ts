import type { VirtualMachine } from '@azure/arm-compute';
import { createHash } from 'node:crypto';

import type { KubernetesApi } from '../activities/kubernetes/kubernetesApi.js';
import { mergePatch } from '../activities/kubernetes/kubernetesApi.js';
import { createNodeClaim, updateNodeClaimStatus } from '../activities/kubernetes/nodeClaims.js';
import { readNodeClass, readNodePool } from '../activities/kubernetes/nodePools.js';
import { request } from '../activities/kubernetes/request.js';
import type { NodePool } from '../karpenter/api.js';
import { conditionTypes } from '../karpenter/conditions.js';
import {
  archLabel,
  capacityTypeLabel,
  hostnameLabel,
  initializedLabel,
  instanceTypeLabel,
  managedAnnotation,
  nodePoolHashAnnotation,
  nodePoolHashVersionAnnotation,
  nodePoolLabel,
  osLabel,
  regionLabel,
  registeredLabel,
  terminationFinalizer,
  zoneLabel,
} from '../karpenter/labels.js';
import { virtualMachineName } from '../karpenter/replacement.js';
import { simulatedAzure } from '../simulator/options.js';
import { until } from './until.js';

/** The cluster of the reported case: kubernetes-sigs/karpenter issue 1861. */
export const nodePoolName = 'general-purpose';
export const nodeClassName = 'default';
/** On whatever the scenario makes but NodeClaims and Nodes, which carry the name of its NodePool: so that nobody else's is taken for its own. */
export const demoLabels = { 'driftless.dev/demo': 'true' } as const;
export const templateSecret = { namespace: 'kube-system', name: 'driftless-vm-template' } as const;
/** Whose pods fill the nodes. */
export const workload = { namespace: 'default', name: 'inflate' } as const;
const nodeClassLabel = 'karpenter.azure.com/aksnodeclass';
const { location } = simulatedAzure;
const sizes = [
  { name: 'Standard_D2ls_v5', memory: '4Gi', allocatableMemory: '3686Mi' },
  { name: 'Standard_D2as_v5', memory: '8Gi', allocatableMemory: '7372Mi' },
] as const;
const startupTaint = { key: 'node.cilium.io/agent-not-ready', value: 'true', effect: 'NoExecute' };
const subnetId =
  '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/network/providers/Microsoft.Network/virtualNetworks/vnet/subnets/nodes';
const readyTimeoutMs = 30_000;
/** The nodes have been at work for long. */
const nodeAgeMs = 24 * 3_600_000;

const karpenter = { group: 'karpenter.sh', version: 'v1' };
const azure = { group: 'karpenter.azure.com', version: 'v1beta1', plural: 'aksnodeclasses' };

/** The reported case is about one NodePool: this is what differs from run to run. */
export interface ScenarioOptions {
  readonly nodes: number;
  /** The text of the one budget: a number or a percentage. */
  readonly budget: string;
  /** What the names of the NodeClaims are derived from. */
  readonly seed: number;
}

/** One NodePool of the scenario and what runs on it. */
export interface PoolOptions extends ScenarioOptions {
  readonly nodePool: string;
  /** Name of the Deployment whose pods fill its nodes, one each. */
  readonly deployment: string;
  /** Of its nodes, e.g. `10s`: wall-clock time, whatever the speed. */
  readonly terminationGracePeriod?: string;
}

/** The part of the ARM simulator that the scenario needs. */
export interface MachineSeeder {
  providerId(name: string): string;
  seed(name: string, model: VirtualMachine): void;
}

/** The scenario's names, derived from the seed as Karpenter would have drawn them. */
function nodeClaimNames({ nodePool, nodes, seed }: PoolOptions): string[] {
  return Array.from({ length: nodes }, (_, index) => {
    const digest = createHash('sha256').update(`${seed}/${index}`).digest('hex');
    return `${nodePool}-${BigInt(`0x${digest}`).toString(36).slice(0, 5)}`;
  });
}

/** Builds the cluster up to the instant before the drift: nodes with one pod each, all as they should be. */
export async function buildScenario(
  api: KubernetesApi,
  machines: MachineSeeder,
  options: ScenarioOptions,
): Promise<void> {
  await createTemplateSecret(api);
  await createClass(api);
  await buildPool(api, machines, { ...options, nodePool: nodePoolName, deployment: workload.name });
}

/** Adds a NodePool to a scenario, with nodes and pods; they drift with those of the others. */
export async function buildPool(api: KubernetesApi, machines: MachineSeeder, options: PoolOptions): Promise<void> {
  const nodePool = await createPool(api, options);
  const imageId = await until(`AKSNodeClass ${nodeClassName} has an image`, readyTimeoutMs, async () => {
    const nodeClass = await readNodeClass(api, nodePool);
    return nodeClass?.status?.images?.[0]?.id;
  });
  await Promise.all(
    nodeClaimNames(options).map((name, index) => createMachine(api, machines, nodePool, name, index, imageId)),
  );
  await createWorkload(api, options);
  const { deployment, nodes } = options;
  await until(`all pods of the Deployment ${deployment} run`, readyTimeoutMs, async () => {
    const pods = await request('list the pods', () =>
      api.core.listNamespacedPod({ namespace: workload.namespace, labelSelector: `app=${deployment}` }),
    );
    const running = pods.items.filter(({ status }) => status?.phase === 'Running');
    return running.length === nodes ? true : undefined;
  });
}

/** The drift: the NodeClass asks for another image family. Answers the instant, wall-clock milliseconds. */
export async function causeDrift(api: KubernetesApi): Promise<number> {
  const at = performance.timeOrigin + performance.now();
  await request('change the AKSNodeClass', () =>
    api.custom.patchClusterCustomObject(
      { ...azure, name: nodeClassName, body: { spec: { imageFamily: 'AzureLinux' } } },
      mergePatch,
    ),
  );
  return at;
}

async function createTemplateSecret(api: KubernetesApi): Promise<void> {
  const template = {
    adminUsername: 'azureuser',
    sshPublicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDriftlessDemoKeyDriftlessDemoKeyDriftlessDem demo',
    subnetId,
  };
  const bootstrap = [
    '#!/bin/bash',
    'KUBELET_NODE_LABELS={{nodeLabels}}',
    'KUBELET_REGISTER_WITH_TAINTS={{nodeTaints}}',
    '',
  ].join('\n');
  await request('create the VM template', () =>
    api.core.createNamespacedSecret({
      namespace: templateSecret.namespace,
      body: {
        metadata: { name: templateSecret.name, labels: demoLabels },
        stringData: { 'template.json': JSON.stringify(template), bootstrap },
      },
    }),
  );
}

async function createClass(api: KubernetesApi): Promise<void> {
  await request('create the AKSNodeClass', () =>
    api.custom.createClusterCustomObject({
      ...azure,
      body: {
        apiVersion: 'karpenter.azure.com/v1beta1',
        kind: 'AKSNodeClass',
        metadata: { name: nodeClassName, labels: demoLabels },
        spec: { imageFamily: 'Ubuntu2204' },
      },
    }),
  );
}

async function createPool(
  api: KubernetesApi,
  { nodePool: name, budget, terminationGracePeriod }: PoolOptions,
): Promise<NodePool> {
  await request('create the NodePool', () =>
    api.custom.createClusterCustomObject({
      ...karpenter,
      plural: 'nodepools',
      body: {
        apiVersion: 'karpenter.sh/v1',
        kind: 'NodePool',
        metadata: {
          name,
          labels: demoLabels,
          annotations: {
            [managedAnnotation]: 'true',
            [nodePoolHashAnnotation]: '4012513481623584108',
            [nodePoolHashVersionAnnotation]: 'v3',
          },
        },
        spec: {
          disruption: {
            budgets: [{ nodes: budget }],
            consolidationPolicy: 'WhenEmptyOrUnderutilized',
            consolidateAfter: 'Never',
          },
          template: {
            spec: {
              nodeClassRef: { group: azure.group, kind: 'AKSNodeClass', name: nodeClassName },
              expireAfter: 'Never',
              ...(terminationGracePeriod === undefined ? {} : { terminationGracePeriod }),
              startupTaints: [startupTaint],
              requirements: [
                { key: archLabel, operator: 'In', values: ['amd64'] },
                { key: osLabel, operator: 'In', values: ['linux'] },
                { key: capacityTypeLabel, operator: 'In', values: ['on-demand'] },
                { key: 'karpenter.azure.com/sku-family', operator: 'In', values: ['D'] },
                { key: 'karpenter.azure.com/sku-cpu', operator: 'Lt', values: ['3'] },
              ],
            },
          },
        },
      },
    }),
  );
  const nodePool = await readNodePool(api, name);
  if (nodePool === undefined) throw new Error(`NodePool ${name} is gone`);
  return nodePool;
}

async function createMachine(
  api: KubernetesApi,
  machines: MachineSeeder,
  nodePool: NodePool,
  name: string,
  index: number,
  imageId: string,
): Promise<void> {
  const size = sizes[index % sizes.length] ?? sizes[0];
  const zone = String((index % 3) + 1);
  const labels = {
    [nodePoolLabel]: nodePool.metadata.name,
    [nodeClassLabel]: nodeClassName,
    [capacityTypeLabel]: 'on-demand',
    [instanceTypeLabel]: size.name,
    [zoneLabel]: `${location}-${zone}`,
    [regionLabel]: location,
    [archLabel]: 'amd64',
    [osLabel]: 'linux',
  };
  const node = virtualMachineName(name);
  const providerID = machines.providerId(node);
  const capacity = { cpu: '2', memory: size.memory, pods: '110' };
  const allocatable = { cpu: '1900m', memory: size.allocatableMemory, pods: '110' };
  const nodeClaim = await createNodeClaim(api, name, {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      name,
      labels,
      annotations: {
        [nodePoolHashAnnotation]: nodePool.metadata.annotations?.[nodePoolHashAnnotation],
        [nodePoolHashVersionAnnotation]: nodePool.metadata.annotations?.[nodePoolHashVersionAnnotation],
      },
      finalizers: [terminationFinalizer],
      ownerReferences: [
        {
          apiVersion: 'karpenter.sh/v1',
          kind: 'NodePool',
          name: nodePool.metadata.name,
          uid: nodePool.metadata.uid,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      ...nodePool.spec.template.spec,
      requirements: Object.entries({
        [instanceTypeLabel]: size.name,
        [zoneLabel]: `${location}-${zone}`,
        [capacityTypeLabel]: 'on-demand',
      }).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
      resources: { requests: { cpu: '1100m', pods: '1' } },
    },
  });
  await createNode(api, node, providerID, labels, capacity, allocatable);
  machines.seed(node, virtualMachineModel(node, size.name, zone, imageId));
  const initializedAt = new Date(Date.now() - nodeAgeMs).toISOString();
  await updateNodeClaimStatus(api, name, nodeClaim.metadata.uid, () => ({
    providerID,
    nodeName: node,
    imageID: imageId,
    capacity,
    allocatable,
    conditions: [
      conditionTypes.launched,
      conditionTypes.registered,
      conditionTypes.initialized,
      conditionTypes.ready,
    ].map((type) => ({ type, status: 'True' as const, reason: type, message: '', lastTransitionTime: initializedAt })),
  }));
}

async function createNode(
  api: KubernetesApi,
  name: string,
  providerID: string,
  labels: Readonly<Record<string, string>>,
  capacity: Readonly<Record<string, string>>,
  allocatable: Readonly<Record<string, string>>,
): Promise<void> {
  await request(`create Node ${name}`, () =>
    api.core.createNode({
      body: {
        metadata: {
          name,
          labels: { ...labels, [hostnameLabel]: name, [registeredLabel]: 'true', [initializedLabel]: 'true' },
        },
        spec: { providerID },
      },
    }),
  );
  const now = new Date();
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    message: '',
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  };
  await request(`write the status of Node ${name}`, () =>
    api.core.patchNodeStatus({ name, body: { status: { capacity, allocatable, conditions: [ready] } } }, mergePatch),
  );
}

function virtualMachineModel(name: string, vmSize: string, zone: string, imageId: string): VirtualMachine {
  return {
    location,
    zones: [zone],
    hardwareProfile: { vmSize },
    storageProfile: {
      imageReference: { communityGalleryImageId: imageId },
      osDisk: { name, createOption: 'FromImage', deleteOption: 'Delete' },
    },
    osProfile: { computerName: name, adminUsername: 'azureuser' },
    networkProfile: {
      networkApiVersion: '2022-11-01',
      networkInterfaceConfigurations: [
        {
          name,
          primary: true,
          deleteOption: 'Delete',
          ipConfigurations: [{ name: 'ipConfig1', subnet: { id: subnetId } }],
        },
      ],
    },
  };
}

async function createWorkload(
  api: KubernetesApi,
  { nodePool, deployment, nodes: replicas }: PoolOptions,
): Promise<void> {
  await request('create the Deployment', () =>
    api.apps.createNamespacedDeployment({
      namespace: workload.namespace,
      body: {
        metadata: { name: deployment, labels: demoLabels },
        spec: {
          replicas,
          selector: { matchLabels: { app: deployment } },
          template: {
            metadata: { labels: { app: deployment } },
            spec: {
              nodeSelector: { [nodePoolLabel]: nodePool },
              containers: [
                {
                  name: deployment,
                  image: 'mcr.microsoft.com/oss/kubernetes/pause:3.6',
                  resources: { requests: { cpu: '1.1' } },
                },
              ],
            },
          },
        },
      },
    }),
  );
}
