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
const nodeClassName = 'default';
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

export interface ScenarioOptions {
  readonly nodes: number;
  /** The text of the one budget: a number or a percentage. */
  readonly budget: string;
  /** What the names of the NodeClaims are derived from. */
  readonly seed: number;
}

/** The part of the ARM simulator that the scenario needs. */
export interface MachineSeeder {
  providerId(name: string): string;
  seed(name: string, model: VirtualMachine): void;
}

/** The scenario's names, derived from the seed as Karpenter would have drawn them. */
function nodeClaimNames({ nodes, seed }: ScenarioOptions): string[] {
  return Array.from({ length: nodes }, (_, index) => {
    const digest = createHash('sha256').update(`${seed}/${index}`).digest('hex');
    return `${nodePoolName}-${BigInt(`0x${digest}`).toString(36).slice(0, 5)}`;
  });
}

/** Builds the cluster up to the instant before the drift: nodes with one pod each, all as they should be. */
export async function buildScenario(
  api: KubernetesApi,
  machines: MachineSeeder,
  options: ScenarioOptions,
): Promise<void> {
  await createTemplateSecret(api);
  const nodePool = await createPool(api, options.budget);
  const imageId = await until('AKSNodeClass default has an image', readyTimeoutMs, async () => {
    const nodeClass = await readNodeClass(api, nodePool);
    return nodeClass?.status?.images?.[0]?.id;
  });
  await Promise.all(
    nodeClaimNames(options).map((name, index) => createMachine(api, machines, nodePool, name, index, imageId)),
  );
  await createWorkload(api, options.nodes);
  await until('all pods of the Deployment inflate run', readyTimeoutMs, async () => {
    const pods = await request('list the pods', () =>
      api.core.listNamespacedPod({ namespace: 'default', labelSelector: 'app=inflate' }),
    );
    const running = pods.items.filter(({ status }) => status?.phase === 'Running');
    return running.length === options.nodes ? true : undefined;
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
      namespace: 'kube-system',
      body: {
        metadata: { name: 'driftless-vm-template' },
        stringData: { 'template.json': JSON.stringify(template), bootstrap },
      },
    }),
  );
}

async function createPool(api: KubernetesApi, budget: string): Promise<NodePool> {
  await request('create the AKSNodeClass', () =>
    api.custom.createClusterCustomObject({
      ...azure,
      body: {
        apiVersion: 'karpenter.azure.com/v1beta1',
        kind: 'AKSNodeClass',
        metadata: { name: nodeClassName },
        spec: { imageFamily: 'Ubuntu2204' },
      },
    }),
  );
  await request('create the NodePool', () =>
    api.custom.createClusterCustomObject({
      ...karpenter,
      plural: 'nodepools',
      body: {
        apiVersion: 'karpenter.sh/v1',
        kind: 'NodePool',
        metadata: {
          name: nodePoolName,
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
  const nodePool = await readNodePool(api, nodePoolName);
  if (nodePool === undefined) throw new Error(`NodePool ${nodePoolName} is gone`);
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
    [nodePoolLabel]: nodePoolName,
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
          name: nodePoolName,
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

async function createWorkload(api: KubernetesApi, replicas: number): Promise<void> {
  await request('create the Deployment', () =>
    api.apps.createNamespacedDeployment({
      namespace: 'default',
      body: {
        metadata: { name: 'inflate' },
        spec: {
          replicas,
          selector: { matchLabels: { app: 'inflate' } },
          template: {
            metadata: { labels: { app: 'inflate' } },
            spec: {
              containers: [
                {
                  name: 'inflate',
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
