import { setImmediate as turn } from 'node:timers/promises';

import { conditionTypes } from '../karpenter/conditions.js';
import {
  hostnameLabel,
  initializedLabel,
  instanceTypeLabel,
  nodePoolLabel,
  registeredLabel,
} from '../karpenter/labels.js';
import type { ClusterSimulator } from '../simulator/cluster/clusterSimulator.js';

const podsPerNode = 10;
const nodesPerPool = 100;
const instanceType = 'Standard_D8s_v5';
const since = '2026-01-05T12:00:00Z';
const nodeClaims = { group: 'karpenter.sh', version: 'v1', plural: 'nodeclaims' };
const nodes = { group: '', version: 'v1', plural: 'nodes' };
const pods = { group: '', version: 'v1', plural: 'pods' };
const allocatable = { cpu: '7820m', memory: '27Gi', pods: '110' };

/** What a node says of its images is the largest part of it; a pod's environment and volumes are that of a pod. */
const images = Array.from({ length: 40 }, (_, index) => ({
  names: [`mcr.microsoft.com/oss/kubernetes/image-${index}:v1.${index}`],
  sizeBytes: 100_000_000 + index,
}));
const env = Array.from({ length: 20 }, (_, index) => ({
  name: `SETTING_${index}`,
  value: `value of setting ${index}`,
}));

function isTrue(type: string): object {
  return { type, status: 'True', reason: type, message: '', lastTransitionTime: since };
}

function seedMachine(cluster: ClusterSimulator, index: number): void {
  const name = `other-${index}`;
  const providerID = `kwok://${name}`;
  const labels = {
    [nodePoolLabel]: `pool-${Math.floor(index / nodesPerPool)}`,
    [instanceTypeLabel]: instanceType,
  };
  const { launched, registered, initialized } = conditionTypes;
  cluster.seed(nodeClaims, {
    metadata: { name, labels },
    spec: {
      nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'other' },
      requirements: [{ key: instanceTypeLabel, operator: 'In', values: [instanceType] }],
    },
    status: { providerID, nodeName: name, conditions: [launched, registered, initialized].map(isTrue) },
  });
  cluster.seed(nodes, {
    metadata: {
      name,
      labels: { ...labels, [hostnameLabel]: name, [registeredLabel]: 'true', [initializedLabel]: 'true' },
    },
    spec: { providerID },
    status: { capacity: allocatable, allocatable, images, conditions: [isTrue('Ready')] },
  });
  for (let pod = 0; pod < podsPerNode; pod += 1) seedPod(cluster, name, `app-${index % nodesPerPool}`, pod);
}

function seedPod(cluster: ClusterSimulator, nodeName: string, app: string, index: number): void {
  cluster.seed(pods, {
    metadata: {
      name: `${app}-${nodeName}-${index}`,
      namespace: 'default',
      labels: { app, 'pod-template-hash': '5d8f9c7b6' },
    },
    spec: {
      nodeName,
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
    status: {
      phase: 'Running',
      startTime: since,
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(isTrue),
    },
  });
}

/** Fills a cluster with nodes of other NodePools and ten pods on each: nobody replaces any of them, and no machine runs. */
export async function fillCluster(cluster: ClusterSimulator, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    seedMachine(cluster, index);
    // Who watches gets a chance to read.
    await turn();
  }
}
