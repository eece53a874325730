import { neededCrds } from '../../dist/demo/controlPlane/assets.js';
import { obtainBinaries } from '../../dist/demo/controlPlane/binaries.js';
import { startControlPlane } from '../../dist/demo/controlPlane/controlPlane.js';
import { controlPlaneVariable } from '../../dist/test/kubernetes/server/controlPlaneVariable.js';
import { obtainKubectl } from '../../dist/test/kubernetes/server/kubectl.js';

/** One control plane for all test files; it tells them by the environment how to get at it. */
export default async function globalSetup() {
  const binaries = await obtainBinaries(process.env, (text) => {
    console.error(text);
  });
  process.env.KUBECTL = await obtainKubectl(process.env);
  const controlPlane = await startControlPlane(binaries, await neededCrds(process.env));
  globalThis.controlPlane = controlPlane;
  const { access, kubeConfigPath } = controlPlane;
  process.env[controlPlaneVariable] = JSON.stringify({ binaries, access, kubeConfigPath });
}
