import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { UserError } from '../../runtime/errors.js';

/** What to get, and the folder into which it goes. */
export interface WantedBinaries {
  /** Of Kubernetes, e.g. `1.36.3`. */
  readonly version: string;
  readonly folder: string;
  readonly names: readonly string[];
}

function packageOf(name: string): string {
  return name === 'etcd' ? './etcd' : `k8s.io/kubernetes/cmd/${name}`;
}

/** Kubernetes' own build sets its version by these flags; without them the API server takes itself for v0.0.0. */
function versionFlags(version: string): string {
  const [major, minor] = version.split('.');
  const variables = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  const flags = Object.entries(variables).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  return ['-s', '-w', ...flags].join(' ');
}

function runGo(assets: string, goArguments: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    // -v names each package on stderr as it is compiled: that is the progress.
    const child = spawn('go', goArguments, {
      cwd: assets,
      stdio: ['ignore', 2, 2],
      env: { ...process.env, CGO_ENABLED: '0' },
    });
    child.on('error', () => {
      reject(new UserError('go is not on PATH: install Go 1.26 or set KUBEBUILDER_ASSETS to a folder of binaries'));
    });
    child.on('exit', (code) => {
      if (code === 0) resolve();
      else reject(new UserError(`go build in ${assets} ended with code ${code}: its errors are above`));
    });
  });
}

/**
 * Builds the executables from their Go modules; the folder never holds half of one.
 * @param assets the folder with go.mod
 * @throws UserError without `go`, or when it fails
 */
export async function buildBinaries({
  assets,
  version,
  folder,
  names,
}: WantedBinaries & { readonly assets: string }): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const unfinished = mkdtempSync(join(folder, 'building-'));
  try {
    const packages = names.map(packageOf);
    const output = ['-o', `${unfinished}/`];
    await runGo(assets, ['build', '-v', '-trimpath', '-ldflags', versionFlags(version), ...output, ...packages]);
    for (const name of names) renameSync(join(unfinished, name), join(folder, name));
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
