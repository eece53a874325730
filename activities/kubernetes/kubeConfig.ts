import { KubeConfig } from '@kubernetes/client-node';
import { existsSync } from 'node:fs';

import { errorMessage, UserError } from '../../runtime/errors.js';

const serviceAccountToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/**
 * The kubeconfig that KUBECONFIG names, else ~/.kube/config, else the Pod's service account.
 * @throws UserError that names the file and what would be right
 */
export function loadKubeConfig(environment: NodeJS.ProcessEnv): KubeConfig {
  const path = environment.KUBECONFIG;
  const kubeConfig = new KubeConfig();
  try {
    if (path !== undefined && path !== '') kubeConfig.loadFromFile(path);
    else if (existsSync(`${environment.HOME ?? ''}/.kube/config`) || existsSync(serviceAccountToken))
      kubeConfig.loadFromDefault();
    else throw new Error('set it to a kubeconfig file, or run inside a cluster');
  } catch (error) {
    throw new UserError(`KUBECONFIG${path === undefined ? '' : ` ${path}`}: ${errorMessage(error)}`);
  }
  const cluster = kubeConfig.getCurrentCluster();
  if (cluster === null)
    throw new UserError(`KUBECONFIG ${path ?? '~/.kube/config'}: its current-context names no cluster`);
  if (!cluster.server.startsWith('https://'))
    throw new UserError(`KUBECONFIG ${path ?? ''}: the server ${cluster.server} must be an https URL`);
  return kubeConfig;
}
