import type { Fields } from './objects.js';
import { fieldAt, isFields, listAt } from './objects.js';
import type { ResourceType } from './resources.js';
import { namespacesType, podsType } from './resources.js';

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

/** The object's fields with defaults for those that are missing. */
export function withDefaults(type: ResourceType, object: Fields): Fields {
  const spec = specDefaults[type.kind];
  const given = object['spec'];
  const fields = { ...topLevelDefaults[type.kind], ...object };
  return spec === undefined ? fields : { ...fields, spec: { ...spec, ...(isFields(given) ? given : {}) } };
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
