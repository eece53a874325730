import { errorMessage, UserError } from '../../runtime/errors.js';
import type { KubernetesApi } from './kubernetesApi.js';

/**
 * Reads from the API server for a person, who is told which server it is that is not there or refuses.
 * @throws UserError
 */
export async function readForPerson<T>(api: KubernetesApi, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof UserError) throw error;
    const server = api.kubeConfig.getCurrentCluster()?.server ?? '';
    throw new UserError(`KUBECONFIG, server ${server}: ${errorMessage(error)}`, { cause: error });
  }
}
