import { loadKubeConfig } from '../../activities/kubernetes/kubeConfig.js';
import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { createKubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { namingTheServer } from '../../activities/kubernetes/serverErrors.js';

/**
 * Gives a command the cluster that KUBECONFIG names.
 * @throws UserError when the API server is not there or refuses
 */
export async function withKubernetes<T>(work: (kubernetes: KubernetesApi) => Promise<T>): Promise<T> {
  const kubernetes = createKubernetesApi(loadKubeConfig(process.env), 'driftless/cli');
  return await namingTheServer(kubernetes, () => work(kubernetes));
}
