import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { karpenterCrds } from './karpenterCrds.js';

/** The folder with the Go module of the executables, our CRD and the audit policy: the build leaves it among the sources. */
export function assetsFolder(): string {
  const folders = ['./assets', '../../../demo/controlPlane/assets'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  const folder = folders.find((path) => existsSync(path));
  if (folder === undefined) throw new Error(`no folder ${folders.join(' or ')}`);
  return folder;
}

/**
 * The CRDs that Driftless and its demo need: Karpenter's own, and one for AKSNodeClass. Each in YAML.
 * @throws UserError when Karpenter's cannot be had
 */
export async function neededCrds(environment: NodeJS.ProcessEnv): Promise<readonly string[]> {
  return [...(await karpenterCrds(environment)), readFileSync(join(assetsFolder(), 'aksNodeClass.yaml'), 'utf8')];
}
