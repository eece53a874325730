import { z } from 'zod';

import type { KubernetesObject } from './objects.js';
import { isFields, listAt, textAt } from './objects.js';
import type { ObjectStore } from './objectStore.js';
import { statusWithCondition } from './podConditions.js';
import { nodesType, podsType } from './resources.js';
import { badRequest, conflict, unforeseen } from './statusErrors.js';
import type { Written } from './updateObject.js';

/** A core/v1 Binding. */
export const bindingSchema = z.looseObject({
  apiVersion: z.literal('v1').default('v1'),
  kind: z.literal('Binding').default('Binding'),
  metadata: z
    .looseObject({
      name: z.string().default(''),
      uid: z.string().optional(),
      annotations: z.record(z.string(), z.string()).default({}),
      labels: z.record(z.string(), z.string()).default({}),
    })
    .prefault({}),
  target: z.looseObject({ kind: z.string().default(''), name: z.string().default('') }),
});
export type Binding = z.infer<typeof bindingSchema>;

/** Labels of a node that a pod gets when it is bound to it. */
const copiedNodeLabels = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

function checkTarget({ target }: Binding): void {
  if (target.kind !== '' && target.kind !== 'Node') {
    throw unforeseen(
      `target.kind: Unsupported value: ${JSON.stringify(target.kind)}: supported values: "Node", "<empty>"`,
    );
  }
  if (target.name === '') throw unforeseen('target.name: Required value');
}

function whyNotBindable(pod: KubernetesObject): string | undefined {
  const { name, deletionTimestamp } = pod.metadata;
  if (deletionTimestamp !== undefined) return `pod ${name} is being deleted, cannot be assigned to a host`;
  const node = textAt(pod, 'spec', 'nodeName');
  if (node !== '') return `pod ${name} is already assigned to node ${JSON.stringify(node)}`;
  const gates = listAt(pod, 'spec', 'schedulingGates');
  return gates.length > 0 ? `pod ${name} has non-empty .spec.schedulingGates` : undefined;
}

function topologyLabels(store: ObjectStore, nodeName: string): Readonly<Record<string, string>> {
  const labels = store.get(nodesType, undefined, nodeName)?.metadata.labels ?? {};
  return Object.fromEntries(Object.entries(labels).filter(([key]) => copiedNodeLabels.includes(key)));
}

/**
 * Binds a pod to a node, as a scheduler does.
 * @throws ApiError 409 when the pod is bound already, being deleted, gated, or another one than meant
 */
export function bindPod(store: ObjectStore, pod: KubernetesObject, binding: Binding): Written {
  const { metadata } = pod;
  if (binding.metadata.name !== metadata.name) {
    throw badRequest('name in URL does not match name in Binding object');
  }
  checkTarget(binding);
  const uid = binding.metadata.uid ?? '';
  const mismatch =
    uid !== '' && uid !== metadata.uid
      ? `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`
      : whyNotBindable(pod);
  if (mismatch !== undefined) throw conflict(podsType, 'pods/binding', metadata.name, mismatch);
  const spec = pod['spec'];
  const labels = { ...metadata.labels, ...binding.metadata.labels, ...topologyLabels(store, binding.target.name) };
  const annotations = { ...metadata.annotations, ...binding.metadata.annotations };
  const object = store.put(podsType, {
    ...pod,
    metadata: {
      ...metadata,
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    spec: { ...(isFields(spec) ? spec : {}), nodeName: binding.target.name },
    status: statusWithCondition(pod, { type: 'PodScheduled', status: 'True' }),
  });
  return { object, removed: false };
}
