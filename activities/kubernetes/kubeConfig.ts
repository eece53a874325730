import { KubeConfig } from '@kubernetes/client-node';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { errorMessage, UserError } from '../../runtime/errors.js';

const serviceAccountToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/**
 * The kubeconfig that KUBECONFIG names (of several files the first one with a current-context decides), else ~/.kube/config, else the
 * Pod's service account.
 * @throws UserError that names the file and what would be right
 */
export function loadKubeConfig(environment: NodeJS.ProcessEnv): KubeConfig {
  const paths = (environment.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  if (paths.length > 0) return readKubeConfig('KUBECONFIG', paths);
  const usual = join(environment.HOME ?? '', '.kube', 'config');
  if (existsSync(usual)) return readKubeConfig('kubeconfig', [usual]);
  if (!existsSync(serviceAccountToken)) {
    throw new UserError('KUBECONFIG: set it to a kubeconfig file, or run inside a cluster');
  }
  const kubeConfig = new KubeConfig();
  naming('service account', () => {
    kubeConfig.loadFromCluster();
  });
  return checked('service account', kubeConfig);
}

/**
 * @param source what named the files, e.g. `--kubeconfig`: messages begin with it
 * @throws UserError that names the file and what would be right
 */
export function readKubeConfig(source: string, paths: readonly string[]): KubeConfig {
  const kubeConfig = new KubeConfig();
  for (const path of paths) {
    naming(`${source} ${path}`, () => {
      const file = new KubeConfig();
      file.loadFromFile(path);
      kubeConfig.mergeConfig(file, Boolean(kubeConfig.getCurrentContext()));
    });
  }
  return checked(`${source} ${paths.join(delimiter)}`, kubeConfig);
}

function naming(what: string, read: () => void): void {
  try {
    read();
  } catch (error) {
    throw new UserError(`${what}: ${errorMessage(error)}`, { cause: error });
  }
}

function checked(what: string, kubeConfig: KubeConfig): KubeConfig {
  const cluster = kubeConfig.getCurrentCluster();
  if (cluster === null) throw new UserError(`${what}: its current-context names no cluster`);
  if (!cluster.server.startsWith('https://')) {
    throw new UserError(`${what}: the server ${cluster.server} must be an https URL`);
  }
  return kubeConfig;
}
