import { buildGo } from '../goBuild.js';

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
  await buildGo({
    module: assets,
    packages: Object.fromEntries(names.map((name) => [name, packageOf(name)])),
    linkerFlags: versionFlags(version),
    folder,
    otherwise: ' or set KUBEBUILDER_ASSETS to a folder of binaries',
  });
}
