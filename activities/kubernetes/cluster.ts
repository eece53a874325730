import type { KubernetesApi } from './kubernetesApi.js';
import { requestIfFound } from './request.js';
import { namingTheServer } from './serverErrors.js';

/**
 * The cluster's identity: the UID of its kube-system namespace.
 * @throws UserError when the API server is not there or refuses
 */
export async function readClusterId(api: KubernetesApi): Promise<string> {
  const namespace = await namingTheServer(api, () =>
    requestIfFound('read Namespace kube-system', () => api.core.readNamespace({ name: 'kube-system' })),
  );
  const uid = namespace?.metadata?.uid;
  if (uid === undefined) throw new Error('Namespace kube-system has no UID');
  return uid;
}
