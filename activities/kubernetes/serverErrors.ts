import { errorMessage, UserError } from '../../runtime/errors.js';
import type { KubernetesApi } from './kubernetesApi.js';
import { KubernetesError, UnreachableError } from './request.js';

/**
 * Does something for a person, who is told which API server it is that does not answer or refuses.
 * @throws UserError
 */
export async function namingTheServer<T>(api: KubernetesApi, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof KubernetesError || error instanceof UnreachableError)) throw error;
    const server = api.kubeConfig.getCurrentCluster()?.server ?? '';
    throw new UserError(`API server ${server}: ${errorMessage(error)}`, { cause: error });
  }
}
