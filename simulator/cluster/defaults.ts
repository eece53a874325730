import { isDeepStrictEqual } from 'node:util';

import type { Fields } from './objects.js';
import { fieldAt, isFields, listAt, textAt } from './objects.js';
import type { ResourceType } from './resources.js';
import { namespacesType, nodesType, podsType } from './resources.js';

/** Fields of a spec that the API server fills in where a client leaves them out: those that others go by. */
const specDefaults: Readonly<Record<string, Fields>> = {
  Pod: {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    securityContext: {},
    enableServiceLinks: true,
  },
  Namespace: { finalizers: ['kubernetes'] },
  Deployment: { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 },
  ReplicaSet: { replicas: 1 },
  StatefulSet: { replicas: 1, podManagementPolicy: 'OrderedReady', revisionHistoryLimit: 10 },
  DaemonSet: { revisionHistoryLimit: 10 },
};

/** The status with which an object of a built-in type begins. */
const initialStatus: Readonly<Record<string, Fields>> = {
  Namespace: { phase: 'Active' },
  Deployment: {},
  ReplicaSet: { replicas: 0 },
  StatefulSet: { replicas: 0, availableReplicas: 0 },
  DaemonSet: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
  PodDisruptionBudget: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  PersistentVolumeClaim: { phase: 'Pending' },
  PersistentVolume: { phase: 'Pending' },
  VolumeAttachment: { attached: false },
};

/** Top-level fields outside spec and status. */
const topLevelDefaults: Readonly<Record<string, Fields>> = {
  Secret: { type: 'Opaque' },
  PriorityClass: { preemptionPolicy: 'PreemptLowerPriority' },
};

const addedToleration = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 };
/** The admission plugin DefaultTolerationSeconds gives them to each pod that does not say otherwise. */
const addedTolerations = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
/** The admission plugin TaintNodesByCondition gives it to each new node, until the node lifecycle controller takes it away. */
const newNodeTaint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

function tolerates(toleration: unknown, key: string): boolean {
  const [ofKey, ofEffect] = [textAt(toleration, 'key'), textAt(toleration, 'effect')];
  return (ofKey === key || ofKey === '') && (ofEffect === 'NoExecute' || ofEffect === '');
}

function withTolerations(spec: Fields): Fields {
  const given = listAt(spec, 'tolerations');
  const missing = addedTolerations.filter((key) => !given.some((toleration) => tolerates(toleration, key)));
  return { ...spec, tolerations: [...given, ...missing.map((key) => ({ key, ...addedToleration }))] };
}

function withContainerDefaults(container: unknown): unknown {
  if (!isFields(container)) return container;
  const image = textAt(container, 'image');
  const isLatest = !/:[^/]+$/.test(image) || image.endsWith(':latest');
  return {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: isLatest ? 'Always' : 'IfNotPresent',
    ...container,
  };
}

/** The spec of a pod, or of the pods of a workload, with its defaults. */
function withPodDefaults(spec: Fields): Fields {
  const containers = listAt(spec, 'containers').map(withContainerDefaults);
  return { ...specDefaults['Pod'], ...spec, ...(containers.length === 0 ? {} : { containers }) };
}

function withTemplateDefaults(spec: Fields): Fields {
  const template = spec['template'];
  if (!isFields(template) || !isFields(template['spec'])) return spec;
  return { ...spec, template: { ...template, spec: withPodDefaults(template['spec']) } };
}

function requestsAndLimits(pod: unknown): readonly Fields[] {
  return listAt(pod, 'spec', 'containers').map((container) => {
    const resources = fieldAt(container, 'resources');
    return isFields(resources) ? resources : {};
  });
}

/** Guaranteed when every container's requests equal its limits for both CPU and memory; BestEffort when none has any. */
function qosClass(pod: unknown): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const resources = requestsAndLimits(pod);
  const isSet = (each: Fields, list: string, name: string): boolean => fieldAt(each, list, name) !== undefined;
  const names = ['cpu', 'memory'];
  if (!resources.some((each) => names.some((name) => isSet(each, 'requests', name) || isSet(each, 'limits', name)))) {
    return 'BestEffort';
  }
  const isExact = (each: Fields, name: string): boolean =>
    isSet(each, 'limits', name) && fieldAt(each, 'requests', name) === fieldAt(each, 'limits', name);
  return resources.every((each) => names.every((name) => isExact(each, name))) ? 'Guaranteed' : 'Burstable';
}

function withNewNodeTaint(spec: Fields): Fields {
  const taints = listAt(spec, 'taints');
  return taints.some((taint) => isDeepStrictEqual(taint, newNodeTaint))
    ? spec
    : { ...spec, taints: [...taints, newNodeTaint] };
}

/** The object's fields with what the API server and its admission plugins add to them. */
export function withDefaults(type: ResourceType, object: Fields): Fields {
  const given = object['spec'];
  const fields = { ...topLevelDefaults[type.kind], ...object };
  const spec = { ...specDefaults[type.kind], ...(isFields(given) ? given : {}) };
  if (type === podsType) return { ...fields, spec: withTolerations(withPodDefaults(spec)) };
  if (type === nodesType) return { ...fields, spec: withNewNodeTaint(spec) };
  if (specDefaults[type.kind] === undefined) return fields;
  return { ...fields, spec: withTemplateDefaults(spec) };
}

/** The status of a new object, where the type has one. */
export function statusAtCreation(type: ResourceType, object: Fields): Fields | undefined {
  if (type === podsType) return { phase: 'Pending', qosClass: qosClass(object) };
  if (type.keepsStatusOnCreate) {
    const given = object['status'];
    return isFields(given) ? given : {};
  }
  return initialStatus[type.kind];
}

/** Each namespace carries its name as a label. */
export function labelsAtCreation(
  type: ResourceType,
  name: string,
  labels: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> | undefined {
  return type === namespacesType ? { ...labels, 'kubernetes.io/metadata.name': name } : labels;
}
