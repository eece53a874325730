import type { Node, Taint } from '../../karpenter/api.js';
import { nodeSchema } from '../../karpenter/api.js';
import { nodePoolLabel, terminationFinalizer } from '../../karpenter/labels.js';
import type { Collection } from './informer.js';
import type { KubernetesApi } from './kubernetesApi.js';
import { mergePatch } from './kubernetesApi.js';
import { pagedList } from './pagedList.js';
import { parseList, parseObject } from './parse.js';
import { hasCode, request, requestIfFound, retryOnConflict } from './request.js';

function parse(object: unknown): Node {
  return parseObject('Node', nodeSchema, object);
}

export const nodeCollection: Collection<Node> = {
  path: '/api/v1/nodes',
  list: pagedList('Node', nodeSchema, (api, page) => api.core.listNode(page)),
  parse,
  key: ({ metadata }) => metadata.name,
};

/** The live Nodes of one NodePool. */
export async function listNodes(api: KubernetesApi, nodePool: string): Promise<readonly Node[]> {
  const labelSelector = `${nodePoolLabel}=${nodePool}`;
  return parseList('Node', nodeSchema, await request('list Nodes', () => api.core.listNode({ labelSelector }))).items;
}

/** The live Node, or undefined when there is none of that name. */
export async function readNode(api: KubernetesApi, name: string): Promise<Node | undefined> {
  const object = await requestIfFound(`read Node ${name}`, () => api.core.readNode({ name }));
  return object === undefined ? undefined : parse(object);
}

/** What a change of a Node sets; taints replace the whole list; null removes a label or an annotation. */
export interface NodeChange {
  readonly labels?: Readonly<Record<string, string | null>>;
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly taints?: readonly Taint[];
  readonly finalizers?: readonly string[];
}

/**
 * Changes a Node; one that is gone is left alone.
 * @param change answers what to set, from the live object; undefined when nothing has to change
 */
export async function updateNode(
  api: KubernetesApi,
  name: string,
  change: (node: Node) => NodeChange | undefined,
): Promise<void> {
  await retryOnConflict(async () => {
    const node = await readNode(api, name);
    const wanted = node === undefined ? undefined : change(node);
    if (node === undefined || wanted === undefined) return;
    const { labels, annotations, finalizers, taints } = wanted;
    const body = {
      metadata: { resourceVersion: node.metadata.resourceVersion, labels, annotations, finalizers },
      ...(taints === undefined ? {} : { spec: { taints } }),
    };
    await requestIfFound(`change Node ${name}`, () => api.core.patchNode({ name, body }, mergePatch));
  });
}

/** Deletes a Node that still has that UID, without Karpenter's finalizer; one that is gone is left alone. */
export async function deleteNode(api: KubernetesApi, node: Node): Promise<void> {
  const { name, uid } = node.metadata;
  await updateNode(api, name, ({ metadata }) => {
    const finalizers = metadata.finalizers ?? [];
    const isHeld = metadata.uid === uid && finalizers.includes(terminationFinalizer);
    return isHeld ? { finalizers: finalizers.filter((other) => other !== terminationFinalizer) } : undefined;
  });
  try {
    await requestIfFound(`delete Node ${name}`, () => api.core.deleteNode({ name, body: { preconditions: { uid } } }));
  } catch (error) {
    if (!hasCode(error, 409)) throw error;
  }
}
