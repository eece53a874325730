import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { obtainBinaries } from '../../dist/demo/controlPlane/binaries.js';
import { startControlPlane } from '../../dist/demo/controlPlane/controlPlane.js';
import { controlPlaneVariable } from '../../dist/test/kubernetes/server/controlPlaneVariable.js';
import { karpenterCrds } from '../../dist/demo/controlPlane/karpenterCrds.js';
import { obtainKubectl } from '../../dist/test/kubernetes/server/kubectl.js';

const assets = fileURLToPath(new URL('../../demo/controlPlane/assets', import.meta.url));

/** One control plane for all test files; it tells them by the environment how to get at it. */
export default async function globalSetup() {
  const binaries = await obtainBinaries(process.env, assets, (text) => {
    console.error(text);
  });
  process.env.KUBECTL = await obtainKubectl(process.env);
  const crds = [...(await karpenterCrds(process.env)), readFileSync(`${assets}/aksNodeClass.yaml`, 'utf8')];
  const controlPlane = await startControlPlane(binaries, crds);
  globalThis.controlPlane = controlPlane;
  const { access, kubeConfigPath } = controlPlane;
  process.env[controlPlaneVariable] = JSON.stringify({ binaries, access, kubeConfigPath });
}
