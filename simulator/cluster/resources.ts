export type Subresource = 'status' | 'eviction' | 'binding';

/** What the API server knows of one resource, and where resources differ in behaviour. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
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
  /** PUT of what is not there creates it. */
  readonly createsOnUpdate: boolean;
}

type Traits = Partial<Omit<ResourceType, 'group' | 'version' | 'plural' | 'kind' | 'custom'>>;

function builtIn(group: string, version: string, plural: string, kind: string, traits: Traits = {}): ResourceType {
  return {
    group,
    version,
    plural,
    kind,
    namespaced: true,
    shortNames: [],
    categories: [],
    custom: false,
    subresources: [],
    hasGeneration: false,
    keepsStatusOnCreate: false,
    answersDeletedObject: false,
    requiresResourceVersion: false,
    createsOnUpdate: false,
    ...traits,
  };
}

function custom(
  group: string,
  version: string,
  plural: string,
  kind: string,
  shortNames: readonly string[] = [],
): ResourceType {
  return {
    ...builtIn(group, version, plural, kind),
    namespaced: false,
    categories: ['karpenter'],
    custom: true,
    subresources: ['status'],
    hasGeneration: true,
    requiresResourceVersion: true,
    shortNames,
  };
}

const withStatus = ['status'] as const;
const workload = { subresources: withStatus, hasGeneration: true } satisfies Traits;
const inAll = ['all'] as const;

export const namespacesType = builtIn('', 'v1', 'namespaces', 'Namespace', { namespaced: false, shortNames: ['ns'] });
export const nodesType = builtIn('', 'v1', 'nodes', 'Node', {
  namespaced: false,
  shortNames: ['no'],
  subresources: withStatus,
  keepsStatusOnCreate: true,
});
export const podsType = builtIn('', 'v1', 'pods', 'Pod', {
  shortNames: ['po'],
  categories: inAll,
  subresources: ['status', 'eviction', 'binding'],
  hasGeneration: true,
  answersDeletedObject: true,
});
export const eventsType = builtIn('', 'v1', 'events', 'Event', { shortNames: ['ev'], createsOnUpdate: true });
export const budgetsType = builtIn('policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget', {
  ...workload,
  shortNames: ['pdb'],
  requiresResourceVersion: true,
});
export const priorityClassesType = builtIn('scheduling.k8s.io', 'v1', 'priorityclasses', 'PriorityClass', {
  namespaced: false,
  shortNames: ['pc'],
  hasGeneration: true,
});
export const nodePoolsType = custom('karpenter.sh', 'v1', 'nodepools', 'NodePool');
export const nodeClaimsType = custom('karpenter.sh', 'v1', 'nodeclaims', 'NodeClaim');

export const resourceTypes: readonly ResourceType[] = [
  namespacesType,
  nodesType,
  podsType,
  eventsType,
  builtIn('', 'v1', 'configmaps', 'ConfigMap', { shortNames: ['cm'] }),
  builtIn('', 'v1', 'secrets', 'Secret'),
  builtIn('', 'v1', 'serviceaccounts', 'ServiceAccount', { shortNames: ['sa'], answersDeletedObject: true }),
  builtIn('', 'v1', 'persistentvolumeclaims', 'PersistentVolumeClaim', {
    shortNames: ['pvc'],
    subresources: withStatus,
    answersDeletedObject: true,
  }),
  builtIn('', 'v1', 'persistentvolumes', 'PersistentVolume', {
    shortNames: ['pv'],
    namespaced: false,
    subresources: withStatus,
    answersDeletedObject: true,
  }),
  builtIn('apps', 'v1', 'deployments', 'Deployment', { ...workload, shortNames: ['deploy'], categories: inAll }),
  builtIn('apps', 'v1', 'replicasets', 'ReplicaSet', { ...workload, shortNames: ['rs'], categories: inAll }),
  builtIn('apps', 'v1', 'daemonsets', 'DaemonSet', { ...workload, shortNames: ['ds'], categories: inAll }),
  builtIn('apps', 'v1', 'statefulsets', 'StatefulSet', { ...workload, shortNames: ['sts'], categories: inAll }),
  budgetsType,
  priorityClassesType,
  builtIn('coordination.k8s.io', 'v1', 'leases', 'Lease', { requiresResourceVersion: true, createsOnUpdate: true }),
  builtIn('storage.k8s.io', 'v1', 'volumeattachments', 'VolumeAttachment', {
    namespaced: false,
    subresources: withStatus,
    answersDeletedObject: true,
    requiresResourceVersion: true,
  }),
  nodePoolsType,
  nodeClaimsType,
  custom('karpenter.azure.com', 'v1beta1', 'aksnodeclasses', 'AKSNodeClass', ['aksnc', 'aksncs']),
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
