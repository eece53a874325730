import type { Pod } from '../../karpenter/api.js';
import type { ClaimName, PersistentVolume } from '../../karpenter/volumes.js';
import { claimsOf, persistentVolumeClaimSchema, persistentVolumeSchema } from '../../karpenter/volumes.js';
import type { KubernetesApi } from './kubernetesApi.js';
import { parseObject } from './parse.js';
import { requestIfFound } from './request.js';

/** The live PersistentVolumes that pods have mounted. */
export async function readVolumesOf(api: KubernetesApi, pods: readonly Pod[]): Promise<readonly PersistentVolume[]> {
  const volumes = await Promise.all(pods.flatMap(claimsOf).map((claim) => readVolume(api, claim)));
  return volumes.filter((volume) => volume !== undefined);
}

async function readVolume(api: KubernetesApi, { namespace, name }: ClaimName): Promise<PersistentVolume | undefined> {
  const claim = await requestIfFound(`read PersistentVolumeClaim ${namespace}/${name}`, () =>
    api.core.readNamespacedPersistentVolumeClaim({ name, namespace }),
  );
  if (claim === undefined) return undefined;
  const { volumeName } = parseObject('PersistentVolumeClaim', persistentVolumeClaimSchema, claim).spec;
  if (volumeName === undefined || volumeName === '') return undefined;
  const volume = await requestIfFound(`read PersistentVolume ${volumeName}`, () =>
    api.core.readPersistentVolume({ name: volumeName }),
  );
  return volume === undefined ? undefined : parseObject('PersistentVolume', persistentVolumeSchema, volume);
}
