import type { VolumeAttachment } from '../../karpenter/api.js';
import { volumeAttachmentSchema } from '../../karpenter/api.js';
import type { KubernetesApi } from './kubernetesApi.js';
import { parseList } from './parse.js';
import { request } from './request.js';

/** The live VolumeAttachments of one Node; the API server cannot select them by it. */
export async function listVolumeAttachments(api: KubernetesApi, node: string): Promise<readonly VolumeAttachment[]> {
  const list = await request('list VolumeAttachments', () => api.storage.listVolumeAttachment());
  const { items } = parseList('VolumeAttachment', volumeAttachmentSchema, list);
  return items.filter(({ spec }) => spec.nodeName === node);
}
