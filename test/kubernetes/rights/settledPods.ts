import type { KubernetesApi } from '../../../activities/kubernetes/kubernetesApi.js';
import { request } from '../../../activities/kubernetes/request.js';
import { doNotDisruptAnnotation } from '../../../karpenter/labels.js';

/** A pod that is on a node already, with a disk of its own. */
export interface SettledPod {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  /** Whether it may not be evicted: then it goes when the node's terminationGracePeriod ends. */
  readonly isProtected: boolean;
}

/** A claim and the disk that it is bound to, as the volume controllers leave them. */
async function createDisk(api: KubernetesApi, namespace: string, name: string): Promise<void> {
  const volumeName = `${namespace}-${name}`;
  const resources = { requests: { storage: '1Gi' } };
  await request(`create PersistentVolumeClaim ${namespace}/${name}`, () =>
    api.core.createNamespacedPersistentVolumeClaim({
      namespace,
      body: { metadata: { name }, spec: { volumeName, accessModes: ['ReadWriteOnce'], resources } },
    }),
  );
  await request(`create PersistentVolume ${volumeName}`, () =>
    api.core.createPersistentVolume({
      body: {
        metadata: { name: volumeName },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          claimRef: { namespace, name },
          csi: { driver: 'disk.csi.azure.com', volumeHandle: volumeName },
        },
      },
    }),
  );
}

/** Creates a pod without a controller, and its disk. */
export async function createSettledPod(api: KubernetesApi, pod: SettledPod): Promise<void> {
  const { namespace, name, node: nodeName, isProtected } = pod;
  await createDisk(api, namespace, name);
  await request(`create pod ${namespace}/${name}`, () =>
    api.core.createNamespacedPod({
      namespace,
      body: {
        metadata: isProtected ? { name, annotations: { [doNotDisruptAnnotation]: 'true' } } : { name },
        spec: {
          nodeName,
          terminationGracePeriodSeconds: 1,
          containers: [{ name: 'main', image: 'app:1' }],
          volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
        },
      },
    }),
  );
}
