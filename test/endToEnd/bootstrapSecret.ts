import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';

const secret = { namespace: 'kube-system', name: 'driftless-vm-template' };

/** The bootstrap that new VMs get, in plain text. */
export async function readBootstrap(api: KubernetesApi): Promise<string> {
  const { data } = await api.core.readNamespacedSecret(secret);
  return Buffer.from(data?.bootstrap ?? '', 'base64').toString('utf8');
}

/** From now on new VMs get this bootstrap: with one that the kubelet cannot read they never register. */
export async function writeBootstrap(api: KubernetesApi, bootstrap: string): Promise<void> {
  const current = await api.core.readNamespacedSecret(secret);
  await api.core.replaceNamespacedSecret({ ...secret, body: Object.assign(current, { stringData: { bootstrap } }) });
}
