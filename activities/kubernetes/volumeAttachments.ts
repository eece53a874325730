import type { VolumeAttachment } from '../../karpenter/api.js';
import { persistentVolumeClaimSchema, volumeAttachmentSchema } from '../../karpenter/api.js';
import type { KubernetesApi } from './kubernetesApi.js';
import { parseList, parseObject } from './parse.js';
import { request, requestIfFound } from './request.js';

/** The live VolumeAttachments of one Node; the API server cannot select them by it. */
export async function listVolumeAttachments(api: KubernetesApi, node: string): Promise<readonly VolumeAttachment[]> {
  const list = await request('list VolumeAttachments', () => api.storage.listVolumeAttachment());
  const { items } = parseList('VolumeAttachment', volumeAttachmentSchema, list);
  return items.filter(({ spec }) => spec.nodeName === node);
}

/** The PersistentVolume that a PersistentVolumeClaim is bound to; undefined when there is no such claim, or none is bound. */
export async function readVolumeName(api: KubernetesApi, namespace: string, name: string): Promise<string | undefined> {
  const claim = await requestIfFound(`read PersistentVolumeClaim ${namespace}/${name}`, () =>
    api.core.readNamespacedPersistentVolumeClaim({ namespace, name }),
  );
  if (claim === undefined) return undefined;
  return parseObject('PersistentVolumeClaim', persistentVolumeClaimSchema, claim).spec.volumeName;
}
