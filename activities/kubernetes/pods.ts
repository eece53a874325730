import type { Pod } from '../../karpenter/api.js';
import { podSchema } from '../../karpenter/api.js';
import { errorMessage } from '../../runtime/errors.js';
import type { Collection } from './informer.js';
import type { KubernetesApi } from './kubernetesApi.js';
import { pagedList } from './pagedList.js';
import { parseList, parseObject } from './parse.js';
import { KubernetesError, PausedError, request } from './request.js';

export const podCollection: Collection<Pod> = {
  path: '/api/v1/pods',
  list: pagedList('Pod', podSchema, (api, page) => api.core.listPodForAllNamespaces(page)),
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

/** What became of a request to evict or to delete a pod. */
export type Eviction =
  | { readonly kind: 'accepted' }
  /** The pod is gone, or another one has its name by now. */
  | { readonly kind: 'gone' }
  /** Its namespace is being deleted: the pod goes by itself. */
  | { readonly kind: 'going' }
  /** Not now, in the API server's words: a disruption budget or an admission webhook stands against it. */
  | { readonly kind: 'refused'; readonly why: string; readonly retryAfterMs: number }
  /** Never: more than one disruption budget covers the pod, which the Eviction API does not support. */
  | { readonly kind: 'severalBudgets'; readonly why: string }
  /** Not now: the API server has too much to do. */
  | { readonly kind: 'busy'; readonly why: string; readonly retryAfterMs: number }
  /** Nobody knows whether it was accepted. */
  | { readonly kind: 'unanswered'; readonly why: string }
  /** The kill switch is on: it was not sent. */
  | { readonly kind: 'paused'; readonly why: string }
  /** Never: we lack the right. */
  | { readonly kind: 'forbidden'; readonly why: string };

/** The API server's own words (kubernetes/pkg/registry/core/pod/storage/eviction.go); the status is 500. */
const severalBudgets = 'more than one PodDisruptionBudget';
/** What RBAC says; a disruption budget or a webhook that answers 403 says something else. */
const lacksRight = /cannot (create|delete) resource/;

function readRefusal(error: unknown): Eviction {
  if (error instanceof PausedError) return { kind: 'paused', why: error.message };
  if (!(error instanceof KubernetesError)) return { kind: 'unanswered', why: errorMessage(error) };
  const { code, causes, message } = error;
  const retryAfterMs = (error.retryAfterSeconds ?? 0) * 1000;
  const budgetWords = causes.filter(({ reason }) => reason === 'DisruptionBudget').map((cause) => cause.message);
  if (code === 404 || code === 409) return { kind: 'gone' };
  if (causes.some(({ reason }) => reason === 'NamespaceTerminating')) return { kind: 'going' };
  if (budgetWords.length > 0) return { kind: 'refused', why: budgetWords.join('; '), retryAfterMs };
  if (code === 500 && message.includes(severalBudgets)) return { kind: 'severalBudgets', why: message };
  if (code === 429) return { kind: 'busy', why: message, retryAfterMs };
  if (code >= 500) return { kind: 'unanswered', why: message };
  return lacksRight.test(message)
    ? { kind: 'forbidden', why: message }
    : { kind: 'refused', why: message, retryAfterMs };
}

async function answerOf(what: string, call: () => Promise<unknown>): Promise<Eviction> {
  try {
    await request(what, call);
    return { kind: 'accepted' };
  } catch (error) {
    return readRefusal(error);
  }
}

/** Asks for the eviction of exactly this pod: the UID is a precondition. The one in metadata would be ignored. */
export async function evictPod(api: KubernetesApi, pod: Pod): Promise<Eviction> {
  const { name, namespace, uid } = pod.metadata;
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace },
    deleteOptions: { preconditions: { uid } },
  };
  return await answerOf(`evict pod ${namespace}/${name}`, () =>
    api.core.createNamespacedPodEviction({ name, namespace, body }),
  );
}

/** Deletes exactly this pod, whatever stands against it. */
export async function deletePod(api: KubernetesApi, pod: Pod, gracePeriodSeconds: number): Promise<Eviction> {
  const { name, namespace, uid } = pod.metadata;
  const body = { gracePeriodSeconds, preconditions: { uid } };
  return await answerOf(`delete pod ${namespace}/${name}`, () =>
    api.core.deleteNamespacedPod({ name, namespace, body }),
  );
}
