import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { errorMessage } from '../../runtime/errors.js';
import { isExecutable } from '../executable.js';
import { assetsFolder } from './assets.js';
import { buildBinaries } from './buildBinaries.js';
import { cacheFolder } from './cacheFolder.js';
import { downloadBinaries } from './downloadBinaries.js';

export const binaryNames = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
export type BinaryName = (typeof binaryNames)[number];

/** Paths of the executables of a control plane. */
export type Binaries = Readonly<Record<BinaryName, string>>;

function findIn(folders: readonly string[], name: BinaryName): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function missingIn(folders: readonly string[]): readonly BinaryName[] {
  return binaryNames.filter((name) => findIn(folders, name) === undefined);
}

/** What is built depends on these files alone. */
function assetsHash(assets: string): string {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'go.sum', 'etcd/main.go']) hash.update(readFileSync(join(assets, name)));
  return hash.digest('hex').slice(0, 16);
}

function kubernetesVersion(assets: string): string {
  const [, version] = /k8s\.io\/kubernetes v(\S+)/.exec(readFileSync(join(assets, 'go.mod'), 'utf8')) ?? [];
  if (version === undefined) throw new Error(`${assets}/go.mod does not require k8s.io/kubernetes`);
  return version;
}

/**
 * The executables of the control plane, each from the first place that has it: the folder KUBEBUILDER_ASSETS, the user's cache, the
 * official downloads, else built from their Go modules.
 * @param tell told what takes its time
 * @throws UserError when something has to be built and there is no `go`
 */
export async function obtainBinaries(environment: NodeJS.ProcessEnv, tell: (text: string) => void): Promise<Binaries> {
  const assets = assetsFolder();
  const version = kubernetesVersion(assets);
  const cached = cacheFolder(environment, 'kubernetes', `${version}-${assetsHash(assets)}`);
  const given = environment.KUBEBUILDER_ASSETS ?? '';
  const folders = [...(given === '' ? [] : [given]), cached];
  if (missingIn(folders).length > 0) {
    await downloadBinaries({ version, folder: cached, names: missingIn(folders) }).catch((error: unknown) => {
      tell(`Kubernetes ${version} cannot be downloaded (${errorMessage(error)})`);
    });
  }
  const toBuild = missingIn(folders);
  if (toBuild.length > 0) {
    tell(`Building ${toBuild.join(', ')} of Kubernetes ${version}, once: about ten minutes on two cores`);
    await buildBinaries({ assets, version, folder: cached, names: toBuild });
  }
  const pathOf = (name: BinaryName): string => {
    const path = findIn(folders, name);
    if (path === undefined) throw new Error(`no ${name} in ${folders.join(' or ')}`);
    return path;
  };
  return {
    etcd: pathOf('etcd'),
    'kube-apiserver': pathOf('kube-apiserver'),
    'kube-controller-manager': pathOf('kube-controller-manager'),
    'kube-scheduler': pathOf('kube-scheduler'),
  };
}
