import type { Collection } from '../../activities/kubernetes/informer.js';
import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import {
  deleteNodeClaim,
  listNodeClaims,
  nodeClaimCollection,
  setFinalizer,
} from '../../activities/kubernetes/nodeClaims.js';
import { nodeClassCollection, nodePoolCollection } from '../../activities/kubernetes/nodePools.js';
import { deleteNode, listNodes, nodeCollection } from '../../activities/kubernetes/nodes.js';
import { hasCode, request, requestIfFound } from '../../activities/kubernetes/request.js';
import { nodePoolLabel, terminationFinalizer } from '../../karpenter/labels.js';
import { demoLabels, nodeClassName, nodePoolName, templateSecret, workload } from '../scenario.js';
import { until } from '../until.js';

/** What is at work in a cluster, as far as the demo would meet it. */
export interface Inhabitants {
  /** In words, e.g. `Node x`: not made by the demo. */
  readonly others: readonly string[];
  /** Whether an earlier run has left something. */
  readonly hasOwn: boolean;
}

interface Labelled {
  readonly metadata?: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> };
}

const podsGoneTimeoutMs = 60_000;
const unavailableOfferings = { namespace: 'kube-system', name: 'driftless-unavailable-offerings' } as const;
const karpenter = { group: 'karpenter.sh', version: 'v1', plural: 'nodepools' } as const;
const azure = { group: 'karpenter.azure.com', version: 'v1beta1', plural: 'aksnodeclasses' } as const;
/** Selects what carries the demo's label. */
export const demoSelector = Object.entries(demoLabels)
  .map(([key, value]) => `${key}=${value}`)
  .join(',');

function isOwn({ metadata }: Labelled): boolean {
  return Object.entries(demoLabels).every(([key, value]) => metadata?.labels?.[key] === value);
}

/** Nothing where the API server does not know the resource. */
async function listIfServed<T>(api: KubernetesApi, collection: Collection<T>): Promise<readonly T[]> {
  try {
    return (await collection.list(api)).items;
  } catch (error) {
    if (hasCode(error, 404)) return [];
    throw error;
  }
}

function namedObjects(api: KubernetesApi): Promise<readonly (readonly [string, Labelled | undefined])[]> {
  const { core, apps } = api;
  return Promise.all([
    requestIfFound('read the VM template', () => core.readNamespacedSecret(templateSecret)).then(
      (secret) => [`Secret ${templateSecret.namespace}/${templateSecret.name}`, secret] as const,
    ),
    requestIfFound('read the Deployment', () => apps.readNamespacedDeployment(workload)).then(
      (deployment) => [`Deployment ${workload.namespace}/${workload.name}`, deployment] as const,
    ),
  ]);
}

/** Looks for all Nodes, NodeClaims, NodePools and AKSNodeClasses, and for what has a name that the demo wants to use. */
export async function findInhabitants(api: KubernetesApi): Promise<Inhabitants> {
  const [nodePools, nodeClasses, nodeClaims, nodes, named] = await Promise.all([
    listIfServed(api, nodePoolCollection),
    listIfServed(api, nodeClassCollection),
    listIfServed(api, nodeClaimCollection),
    listIfServed(api, nodeCollection),
    namedObjects(api),
  ]);
  const ownPools = new Set(nodePools.filter(isOwn).map(({ metadata }) => metadata.name));
  const isInOwnPool = ({ metadata }: Labelled): boolean => ownPools.has(metadata?.labels?.[nodePoolLabel] ?? '');
  const kinds: readonly (readonly [string, readonly Labelled[], (object: Labelled) => boolean])[] = [
    ['Node', nodes, isInOwnPool],
    ['NodeClaim', nodeClaims, isInOwnPool],
    ['NodePool', nodePools, isOwn],
    ['AKSNodeClass', nodeClasses, isOwn],
  ];
  const found = [
    ...kinds.flatMap(([kind, objects, owns]) =>
      objects.map((object) => ({ what: `${kind} ${object.metadata?.name ?? ''}`, isOwn: owns(object) })),
    ),
    ...named.flatMap(([what, object]) => (object === undefined ? [] : [{ what, isOwn: isOwn(object) }])),
  ];
  return {
    others: found.filter((each) => !each.isOwn).map(({ what }) => what),
    hasOwn: found.some((each) => each.isOwn),
  };
}

/**
 * Removes all that a run has made, in such an order that what is left after an interruption is still known for the demo's. Nothing of
 * the run may be at work any more: its kubelets would register their Nodes again. Events expire by themselves.
 */
export async function removeOwnObjects(api: KubernetesApi): Promise<void> {
  const { apps, core, custom } = api;
  await requestIfFound('delete the Deployment', () =>
    apps.deleteNamespacedDeployment({ ...workload, propagationPolicy: 'Background' }),
  );
  await until('the pods of the Deployment are gone', podsGoneTimeoutMs, () => arePodsGone(api));
  for (const { metadata } of await listNodeClaims(api, nodePoolName)) {
    await deleteNodeClaim(api, metadata.name, metadata.uid);
    await setFinalizer(api, metadata.name, metadata.uid, terminationFinalizer, false);
  }
  for (const node of await listNodes(api, nodePoolName)) await deleteNode(api, node);
  await requestIfFound('delete the VM template', () => core.deleteNamespacedSecret(templateSecret));
  await requestIfFound('delete the unavailable offerings', () => core.deleteNamespacedConfigMap(unavailableOfferings));
  await requestIfFound<unknown>('delete the AKSNodeClass', () =>
    custom.deleteClusterCustomObject({ ...azure, name: nodeClassName }),
  );
  await requestIfFound<unknown>('delete the NodePool', () =>
    custom.deleteClusterCustomObject({ ...karpenter, name: nodePoolName }),
  );
}

/** No kubelet ends them any more: they are deleted without grace until their ReplicaSet makes no others. */
async function arePodsGone({ core }: KubernetesApi): Promise<true | undefined> {
  const { namespace, name: app } = workload;
  const { items } = await request('list the pods', () =>
    core.listNamespacedPod({ namespace, labelSelector: `app=${app}` }),
  );
  for (const { metadata } of items) {
    const { name = '' } = metadata ?? {};
    await requestIfFound(`delete pod ${name}`, () =>
      core.deleteNamespacedPod({ name, namespace, gracePeriodSeconds: 0 }),
    );
  }
  return items.length === 0 ? true : undefined;
}
