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

/** The name of the PersistentVolume that a claim is bound to; undefined when there is no such claim, or none is bound. */
export async function readVolumeName(api: KubernetesApi, { namespace, name }: ClaimName): Promise<string | undefined> {
  const claim = await requestIfFound(`read PersistentVolumeClaim ${namespace}/${name}`, () =>
    api.core.readNamespacedPersistentVolumeClaim({ name, namespace }),
  );
  if (claim === undefined) return undefined;
  const { volumeName } = parseObject('PersistentVolumeClaim', persistentVolumeClaimSchema, claim).spec;
  return volumeName === '' ? undefined : volumeName;
}

async function readVolume(api: KubernetesApi, claim: ClaimName): Promise<PersistentVolume | undefined> {
  const name = await readVolumeName(api, claim);
  if (name === undefined) return undefined;
  const volume = await requestIfFound(`read PersistentVolume ${name}`, () => api.core.readPersistentVolume({ name }));
  return volume === undefined ? undefined : parseObject('PersistentVolume', persistentVolumeSchema, volume);
}
