import type { Pod } from '../../karpenter/api.js';
import { podSchema } from '../../karpenter/api.js';
import type { Collection } from './informer.js';
import type { KubernetesApi } from './kubernetesApi.js';
import { parseList, parseObject } from './parse.js';
import { hasCode, KubernetesError, request } from './request.js';

export const podCollection: Collection<Pod> = {
  path: '/api/v1/pods',
  list: async (api) =>
    parseList('Pod', podSchema, await request('list pods', () => api.core.listPodForAllNamespaces())),
  parse: (object) => parseObject('Pod', podSchema, object),
  key: ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
};

/** The live pods that are bound to a Node. */
export async function listPodsOnNode(api: KubernetesApi, node: string): Promise<readonly Pod[]> {
  const fieldSelector = `spec.nodeName=${node}`;
  const list = await request(`list the pods of Node ${node}`, () =>
    api.core.listPodForAllNamespaces({ fieldSelector }),
  );
  return parseList('Pod', podSchema, list).items;
}

/** What became of a request to evict a pod. */
export type Eviction =
  | { readonly kind: 'accepted' }
  /** The pod is gone, or another one has its name by now. */
  | { readonly kind: 'gone' }
  /** Not now: a disruption budget stands against it, in the API server's words. */
  | { readonly kind: 'later'; readonly why: string };

/** Asks for the eviction of exactly this pod: the UID is a precondition. */
export async function evictPod(api: KubernetesApi, pod: Pod): Promise<Eviction> {
  const { name, namespace, uid } = pod.metadata;
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace },
    deleteOptions: { preconditions: { uid } },
  };
  try {
    await request(`evict pod ${namespace}/${name}`, () =>
      api.core.createNamespacedPodEviction({ name, namespace, body }),
    );
    return { kind: 'accepted' };
  } catch (error) {
    if (hasCode(error, 404, 409)) return { kind: 'gone' };
    // 429: a budget allows none now. 500: more than one budget covers the pod, which the Eviction API does not support.
    if (error instanceof KubernetesError && (error.code === 429 || error.code === 500))
      return { kind: 'later', why: error.message };
    throw error;
  }
}
