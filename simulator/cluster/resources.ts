export type Subresource = 'status' | 'eviction' | 'binding';

/** What the API server knows of one resource, and where resources differ in behaviour. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Comes from a CRD: no strategic patches, no unconditional updates, list items carry their kind. */
  readonly custom: boolean;
  readonly subresources: readonly Subresource[];
  /** Counts the changes of its spec in metadata.generation. */
  readonly hasGeneration: boolean;
  /** A client may set the status with create, as kubelets do with their Node. */
  readonly keepsStatusOnCreate: boolean;
  /** DELETE answers with the object instead of a Status. */
  readonly answersDeletedObject: boolean;
  /** PUT without a resourceVersion is refused. */
  readonly requiresResourceVersion: boolean;
}

type Traits = Partial<Omit<ResourceType, 'group' | 'version' | 'plural' | 'kind' | 'custom'>>;

function builtIn(group: string, version: string, plural: string, kind: string, traits: Traits = {}): ResourceType {
  return {
    group,
    version,
    plural,
    kind,
    namespaced: true,
    custom: false,
    subresources: [],
    hasGeneration: false,
    keepsStatusOnCreate: false,
    answersDeletedObject: false,
    requiresResourceVersion: false,
    ...traits,
  };
}

function custom(group: string, version: string, plural: string, kind: string): ResourceType {
  return {
    ...builtIn(group, version, plural, kind),
    namespaced: false,
    custom: true,
    subresources: ['status'],
    hasGeneration: true,
    requiresResourceVersion: true,
  };
}

const withStatus = ['status'] as const;
const workload: Traits = { subresources: withStatus, hasGeneration: true };

export const namespacesType = builtIn('', 'v1', 'namespaces', 'Namespace', { namespaced: false });
export const nodesType = builtIn('', 'v1', 'nodes', 'Node', {
  namespaced: false,
  subresources: withStatus,
  keepsStatusOnCreate: true,
});
export const podsType = builtIn('', 'v1', 'pods', 'Pod', {
  subresources: ['status', 'eviction', 'binding'],
  hasGeneration: true,
  answersDeletedObject: true,
});
export const eventsType = builtIn('', 'v1', 'events', 'Event');
export const budgetsType = builtIn('policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget', {
  ...workload,
  requiresResourceVersion: true,
});
export const priorityClassesType = builtIn('scheduling.k8s.io', 'v1', 'priorityclasses', 'PriorityClass', {
  namespaced: false,
  hasGeneration: true,
});
export const nodeClaimsType = custom('karpenter.sh', 'v1', 'nodeclaims', 'NodeClaim');

export const resourceTypes: readonly ResourceType[] = [
  namespacesType,
  nodesType,
  podsType,
  eventsType,
  builtIn('', 'v1', 'configmaps', 'ConfigMap'),
  builtIn('', 'v1', 'secrets', 'Secret'),
  builtIn('', 'v1', 'serviceaccounts', 'ServiceAccount', { answersDeletedObject: true }),
  builtIn('', 'v1', 'persistentvolumeclaims', 'PersistentVolumeClaim', {
    subresources: withStatus,
    answersDeletedObject: true,
  }),
  builtIn('', 'v1', 'persistentvolumes', 'PersistentVolume', {
    namespaced: false,
    subresources: withStatus,
    answersDeletedObject: true,
  }),
  builtIn('apps', 'v1', 'deployments', 'Deployment', workload),
  builtIn('apps', 'v1', 'replicasets', 'ReplicaSet', workload),
  builtIn('apps', 'v1', 'daemonsets', 'DaemonSet', workload),
  builtIn('apps', 'v1', 'statefulsets', 'StatefulSet', workload),
  budgetsType,
  priorityClassesType,
  builtIn('storage.k8s.io', 'v1', 'volumeattachments', 'VolumeAttachment', {
    namespaced: false,
    subresources: withStatus,
    answersDeletedObject: true,
    requiresResourceVersion: true,
  }),
  custom('karpenter.sh', 'v1', 'nodepools', 'NodePool'),
  nodeClaimsType,
  custom('karpenter.azure.com', 'v1beta1', 'aksnodeclasses', 'AKSNodeClass'),
];

export function findResourceType(group: string, version: string, plural: string): ResourceType | undefined {
  return resourceTypes.find((type) => type.group === group && type.version === version && type.plural === plural);
}

/** `v1`, or `group/version`. */
export function apiVersionOf(type: ResourceType): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

/** `plural.group`, as the messages of the API server name a resource. */
export function qualified(group: string, name: string): string {
  return group === '' ? name : `${name}.${group}`;
}

export function hasStatusSubresource(type: ResourceType): boolean {
  return type.subresources.includes('status');
}
