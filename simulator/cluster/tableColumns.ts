import { humanDuration } from './humanDuration.js';
import type { KubernetesObject } from './objects.js';
import { fieldAt, isFields, listAt, textAt } from './objects.js';
import { findCondition } from './podConditions.js';

type Cell = string | number | boolean | null;

/** A column of the table of one kind. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  /** 0: always shown; 1: only with `-o wide`. */
  readonly priority: 0 | 1;
  readonly cell: (object: KubernetesObject) => Cell;
}

const none = '<none>';

function column(name: string, cell: Column['cell'], more: Partial<Pick<Column, 'type' | 'priority'>> = {}): Column {
  return { name, type: 'string', priority: 0, ...more, cell };
}

function ageOf(timestamp: string): string {
  return timestamp === '' ? '<unknown>' : humanDuration(Date.now() - Date.parse(timestamp));
}

const nameColumn = column('Name', ({ metadata }) => metadata.name);
const ageColumn = column('Age', ({ metadata }) => ageOf(metadata.creationTimestamp));
const wide = { priority: 1 } as const;

/** The text at a path of a built-in object, or what stands there for nothing. */
const textColumn = (name: string, path: readonly string[], empty: string, more: Partial<Column> = {}): Column =>
  column(
    name,
    (object) => {
      const text = textAt(object, ...path);
      return text === '' ? empty : text;
    },
    more,
  );

function numberAt(object: unknown, ...path: readonly string[]): number {
  const value = fieldAt(object, ...path);
  return typeof value === 'number' ? value : 0;
}

function countOf(value: unknown): number {
  return isFields(value) ? Object.keys(value).length : 0;
}

function nodeStatus(node: KubernetesObject): string {
  const ready = textAt(findCondition(node, 'Ready'), 'status');
  const states: Readonly<Record<string, string>> = { True: 'Ready', False: 'NotReady', Unknown: 'NotReady' };
  const state = states[ready] ?? 'Unknown';
  return fieldAt(node, 'spec', 'unschedulable') === true ? `${state},SchedulingDisabled` : state;
}

const rolePrefix = 'node-role.kubernetes.io/';

function nodeRoles({ metadata }: KubernetesObject): string {
  const roles = Object.keys(metadata.labels ?? {}).filter((key) => key.startsWith(rolePrefix) && key !== rolePrefix);
  return roles.length === 0
    ? none
    : roles
        .map((key) => key.slice(rolePrefix.length))
        .sort()
        .join(',');
}

function addressOf(node: KubernetesObject, type: string): string {
  const address = listAt(node, 'status', 'addresses').find((each) => textAt(each, 'type') === type);
  return address === undefined ? none : textAt(address, 'address');
}

function podStatus(pod: KubernetesObject): string {
  if (pod.metadata.deletionTimestamp !== undefined) {
    return textAt(pod, 'status', 'reason') === 'NodeLost' ? 'Unknown' : 'Terminating';
  }
  const states = listAt(pod, 'status', 'containerStatuses').map((each) => fieldAt(each, 'state'));
  const reasons = states.flatMap((state) => [
    textAt(state, 'waiting', 'reason'),
    textAt(state, 'terminated', 'reason'),
  ]);
  const reason = reasons.findLast((each) => each !== '') ?? textAt(pod, 'status', 'reason');
  return reason === '' ? textAt(pod, 'status', 'phase') : reason;
}

function readyContainers(pod: KubernetesObject): string {
  const ready = listAt(pod, 'status', 'containerStatuses').filter((each) => fieldAt(each, 'ready') === true);
  return `${ready.length}/${listAt(pod, 'spec', 'containers').length}`;
}

function restarts(pod: KubernetesObject): string {
  const counts = listAt(pod, 'status', 'containerStatuses').map((each) => numberAt(each, 'restartCount'));
  return String(counts.reduce((sum, count) => sum + count, 0));
}

function eventTime(event: KubernetesObject, ...fields: readonly string[]): string {
  const timestamp = fields.map((field) => textAt(event, field)).find((each) => each !== '') ?? '';
  return ageOf(timestamp);
}

function involvedObject(event: KubernetesObject): string {
  return `${textAt(event, 'involvedObject', 'kind').toLowerCase()}/${textAt(event, 'involvedObject', 'name')}`;
}

function eventSource(event: KubernetesObject): string {
  const component = textAt(event, 'source', 'component') || textAt(event, 'reportingComponent');
  return [component, textAt(event, 'source', 'host')].filter((each) => each !== '').join(', ');
}

function intOrPercent(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'N/A';
}

/** A column of a CRD: null where there is nothing. */
const customColumn = (name: string, cell: (object: KubernetesObject) => unknown, more: Partial<Column> = {}): Column =>
  column(
    name,
    (object) => {
      const value = cell(object);
      if (typeof value === 'number') return more.type === 'integer' ? value : String(value);
      return typeof value === 'string' ? value : null;
    },
    more,
  );
const customAge: Column = { ...ageColumn, type: 'date' };
const conditionStatus = (type: string) => (object: KubernetesObject) => fieldAt(findCondition(object, type), 'status');
const label = (key: string) => (object: KubernetesObject) => object.metadata.labels?.[key];

const nodeColumns: readonly Column[] = [
  nameColumn,
  column('Status', nodeStatus),
  column('Roles', nodeRoles),
  ageColumn,
  textColumn('Version', ['status', 'nodeInfo', 'kubeletVersion'], ''),
  column('Internal-IP', (node) => addressOf(node, 'InternalIP'), wide),
  column('External-IP', (node) => addressOf(node, 'ExternalIP'), wide),
  textColumn('OS-Image', ['status', 'nodeInfo', 'osImage'], '<unknown>', wide),
  textColumn('Kernel-Version', ['status', 'nodeInfo', 'kernelVersion'], '<unknown>', wide),
  textColumn('Container-Runtime', ['status', 'nodeInfo', 'containerRuntimeVersion'], '<unknown>', wide),
];

const podColumns: readonly Column[] = [
  nameColumn,
  column('Ready', readyContainers),
  column('Status', podStatus),
  column('Restarts', restarts),
  ageColumn,
  textColumn('IP', ['status', 'podIP'], none, wide),
  textColumn('Node', ['spec', 'nodeName'], none, wide),
  textColumn('Nominated Node', ['status', 'nominatedNodeName'], none, wide),
  column('Readiness Gates', () => none, wide),
];

const eventColumns: readonly Column[] = [
  column('Last Seen', (event) => eventTime(event, 'lastTimestamp', 'eventTime', 'firstTimestamp')),
  textColumn('Type', ['type'], ''),
  textColumn('Reason', ['reason'], ''),
  column('Object', involvedObject),
  textColumn('Subobject', ['involvedObject', 'fieldPath'], '', wide),
  column('Source', eventSource, wide),
  column('Message', (event) => textAt(event, 'message').trim()),
  column('First Seen', (event) => eventTime(event, 'firstTimestamp', 'eventTime'), wide),
  column('Count', (event) => numberAt(event, 'count') || 1, wide),
  { ...nameColumn, priority: 1 },
];

const nodePoolColumns: readonly Column[] = [
  nameColumn,
  customColumn('NodeClass', (pool) => fieldAt(pool, 'spec', 'template', 'spec', 'nodeClassRef', 'name')),
  customColumn('Nodes', (pool) => fieldAt(pool, 'status', 'nodes')),
  customColumn('Ready', conditionStatus('Ready')),
  customAge,
  customColumn('Weight', (pool) => fieldAt(pool, 'spec', 'weight'), { ...wide, type: 'integer' }),
  customColumn('CPU', (pool) => fieldAt(pool, 'status', 'resources', 'cpu'), wide),
  customColumn('Memory', (pool) => fieldAt(pool, 'status', 'resources', 'memory'), wide),
];

const nodeClaimColumns: readonly Column[] = [
  nameColumn,
  customColumn('Type', label('node.kubernetes.io/instance-type')),
  customColumn('Capacity', label('karpenter.sh/capacity-type')),
  customColumn('Zone', label('topology.kubernetes.io/zone')),
  customColumn('Node', (claim) => fieldAt(claim, 'status', 'nodeName')),
  customColumn('Ready', conditionStatus('Ready')),
  customAge,
  customColumn('ImageID', (claim) => fieldAt(claim, 'status', 'imageID'), wide),
  customColumn('ID', (claim) => fieldAt(claim, 'status', 'providerID'), wide),
  customColumn('NodePool', label('karpenter.sh/nodepool'), wide),
  customColumn('NodeClass', (claim) => fieldAt(claim, 'spec', 'nodeClassRef', 'name'), wide),
  customColumn('Drifted', conditionStatus('Drifted'), wide),
];

const budgetColumns: readonly Column[] = [
  nameColumn,
  column('Min Available', (budget) => intOrPercent(fieldAt(budget, 'spec', 'minAvailable'))),
  column('Max Unavailable', (budget) => intOrPercent(fieldAt(budget, 'spec', 'maxUnavailable'))),
  column('Allowed Disruptions', (budget) => numberAt(budget, 'status', 'disruptionsAllowed'), { type: 'integer' }),
  ageColumn,
];

/** By kind. A kind without columns is shown by its name and age alone: its clients get the objects instead of a table. */
const columns: Readonly<Record<string, readonly Column[]>> = {
  Node: nodeColumns,
  Pod: podColumns,
  Event: eventColumns,
  NodePool: nodePoolColumns,
  NodeClaim: nodeClaimColumns,
  AKSNodeClass: [nameColumn, customAge],
  PodDisruptionBudget: budgetColumns,
  Namespace: [nameColumn, textColumn('Status', ['status', 'phase'], ''), ageColumn],
  ConfigMap: [nameColumn, column('Data', (map) => countOf(map['data']) + countOf(map['binaryData'])), ageColumn],
  Secret: [
    nameColumn,
    textColumn('Type', ['type'], ''),
    column('Data', (secret) => countOf(secret['data'])),
    ageColumn,
  ],
  ServiceAccount: [nameColumn, ageColumn],
  Lease: [nameColumn, textColumn('Holder', ['spec', 'holderIdentity'], ''), ageColumn],
};

/** The columns of a kind's table; undefined for one that has none here. */
export function columnsOf(kind: string): readonly Column[] | undefined {
  return columns[kind];
}
