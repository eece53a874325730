import type { KubernetesApi } from '../activities/kubernetes/kubernetesApi.js';
import { mergePatch } from '../activities/kubernetes/kubernetesApi.js';
import { createNodeClaim, trueCondition, updateNodeClaimStatus } from '../activities/kubernetes/nodeClaims.js';
import { request } from '../activities/kubernetes/request.js';
import { conditionTypes } from '../karpenter/conditions.js';
import {
  hostnameLabel,
  initializedLabel,
  instanceTypeLabel,
  nodePoolLabel,
  registeredLabel,
} from '../karpenter/labels.js';

const parallelWrites = 48;
const podsPerNode = 10;
const nodesPerPool = 100;
const namespace = 'default';

/** What a node says of its images is the largest part of it; a pod's environment and volumes are that of a pod. */
const images = Array.from({ length: 40 }, (_, index) => ({
  names: [`mcr.microsoft.com/oss/kubernetes/image-${index}:v1.${index}`],
  sizeBytes: 100_000_000 + index,
}));
const env = Array.from({ length: 20 }, (_, index) => ({
  name: `SETTING_${index}`,
  value: `value of setting ${index}`,
}));

/** Calls the function for 0 to count - 1, so many at a time. */
async function forEachIndex(count: number, call: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await call(index);
    }
  };
  await Promise.all(Array.from({ length: parallelWrites }, work));
}

async function createMachine(api: KubernetesApi, index: number): Promise<void> {
  const name = `other-${index}`;
  const nodePool = `pool-${Math.floor(index / nodesPerPool)}`;
  const providerID = `kwok://${name}`;
  const labels = { [nodePoolLabel]: nodePool, [instanceTypeLabel]: 'Standard_D8s_v5' };
  const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'other' };
  const { metadata } = await createNodeClaim(api, name, {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name, labels },
    spec: { nodeClassRef, requirements: [{ key: instanceTypeLabel, operator: 'In', values: ['Standard_D8s_v5'] }] },
  });
  const lastTransitionTime = new Date().toISOString();
  const { launched, registered, initialized } = conditionTypes;
  await updateNodeClaimStatus(api, name, metadata.uid, () => ({
    providerID,
    nodeName: name,
    conditions: [launched, registered, initialized].map((type) => ({ ...trueCondition(type), lastTransitionTime })),
  }));
  const allocatable = { cpu: '7820m', memory: '27Gi', pods: '110' };
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' };
  const marks = { [hostnameLabel]: name, [registeredLabel]: 'true', [initializedLabel]: 'true' };
  await request(`create Node ${name}`, () =>
    api.core.createNode({ body: { metadata: { name, labels: { ...labels, ...marks } }, spec: { providerID } } }),
  );
  await request(`write the status of Node ${name}`, () =>
    api.core.patchNodeStatus(
      { name, body: { status: { capacity: allocatable, allocatable, images, conditions: [ready] } } },
      mergePatch,
    ),
  );
}

async function createPod(api: KubernetesApi, index: number): Promise<void> {
  const app = `app-${Math.floor(index / (podsPerNode * podsPerNode))}`;
  const name = `${app}-${index}`;
  const body = {
    metadata: { name, labels: { app, 'pod-template-hash': '5d8f9c7b6' } },
    spec: {
      nodeName: `other-${Math.floor(index / podsPerNode)}`,
      containers: [
        {
          name: app,
          image: 'mcr.microsoft.com/oss/kubernetes/pause:3.6',
          env,
          resources: { requests: { cpu: '100m', memory: '128Mi' } },
          volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
        },
      ],
      tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
      volumes: [{ name: 'scratch', emptyDir: {} }],
    },
  };
  await request(`create pod ${name}`, () => api.core.createNamespacedPod({ namespace, body }));
}

/** Fills a cluster with nodes of other NodePools and ten pods on each: nobody replaces any of them, and no machine runs. */
export async function fillCluster(api: KubernetesApi, nodes: number): Promise<void> {
  await forEachIndex(nodes, (index) => createMachine(api, index));
  await forEachIndex(nodes * podsPerNode, (index) => createPod(api, index));
}
