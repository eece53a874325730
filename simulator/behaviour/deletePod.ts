import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import type { Pod } from './objects.js';

/**
 * Deletes exactly that pod, never a later one of the same name.
 * @param gracePeriodSeconds absent: the pod's own; 0: it is gone at once
 */
export async function deletePod(api: KubernetesApi, pod: Pod, gracePeriodSeconds?: number): Promise<void> {
  const { name, namespace, uid } = pod.metadata;
  await api.core.deleteNamespacedPod({ name, namespace, body: { gracePeriodSeconds, preconditions: { uid } } });
}
