import type { Budget, Condition, Node, NodeClaim, NodePool } from '../../karpenter/api.js';
import {
  capacityTypeLabel,
  disruptedTaint,
  doNotDisruptAnnotation,
  initializedLabel,
  instanceTypeLabel,
  managedAnnotation,
  nodePoolLabel,
  replacesAnnotation,
  workflowAnnotation,
  zoneLabel,
} from '../../karpenter/labels.js';
import type { Offering } from '../../karpenter/offering.js';
import type { Machine, Pool } from '../../karpenter/pool.js';

export const poolName = 'general-purpose';
const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' };
const longAgo = '2026-01-01T00:00:00Z';

/** What is special about a machine; without anything it is a node at work that nobody wants to replace. */
export interface MachineShape {
  /** The instant since which it is Drifted, ISO 8601. */
  readonly driftedSince?: string;
  readonly hasNode?: false;
  readonly isInitialized?: false;
  readonly isReady?: false;
  readonly isTainted?: true;
  /** The workflow whose mark the Node carries. */
  readonly workflow?: string;
  readonly isInstanceTerminating?: true;
  /** The NodeClaim has been deleted. */
  readonly isDeleted?: true;
  /** The Node has been deleted. */
  readonly isNodeDeleted?: true;
  readonly doNotDisrupt?: string;
  /** UID of the NodeClaim that it replaces. */
  readonly replaces?: string;
  readonly createdAt?: string;
  /** Conditions of the NodeClaim that are True, beside those that the other fields imply. */
  readonly trueConditions?: readonly string[];
  /** Conditions of the NodeClaim that are False. */
  readonly falseConditions?: readonly string[];
  readonly providerId?: string;
  readonly offering?: Offering;
  readonly requests?: Readonly<Record<string, string>>;
  readonly allocatable?: Readonly<Record<string, string>>;
}

export function isTrueSince(type: string, lastTransitionTime = longAgo): Condition {
  return { type, status: 'True', reason: type, lastTransitionTime };
}

function nodeClaimOf(name: string, shape: MachineShape): NodeClaim {
  const { offering } = shape;
  return {
    metadata: {
      name,
      uid: `uid-${name}`,
      creationTimestamp: shape.createdAt ?? longAgo,
      ...(shape.isDeleted ? { deletionTimestamp: longAgo } : {}),
      labels: {
        [nodePoolLabel]: poolName,
        ...(offering === undefined
          ? {}
          : {
              [instanceTypeLabel]: offering.instanceType,
              [zoneLabel]: offering.zone,
              [capacityTypeLabel]: offering.capacityType,
            }),
      },
      annotations: shape.replaces === undefined ? {} : { [replacesAnnotation]: shape.replaces },
    },
    spec: { nodeClassRef, requirements: [], resources: { requests: { ...shape.requests } } },
    status: {
      nodeName: `aks-${name}`,
      ...(shape.providerId === undefined ? {} : { providerID: shape.providerId }),
      allocatable: { ...shape.allocatable },
      conditions: [
        ...(shape.driftedSince === undefined
          ? []
          : [{ ...isTrueSince('Drifted', shape.driftedSince), reason: 'ImageDrift' }]),
        ...(shape.isInstanceTerminating ? [isTrueSince('InstanceTerminating')] : []),
        ...(shape.trueConditions ?? []).map((type) => isTrueSince(type)),
        ...(shape.falseConditions ?? []).map((type) => ({ type, status: 'False' }) as const),
      ],
    },
  };
}

function nodeOf(name: string, shape: MachineShape): Node {
  return {
    metadata: {
      name: `aks-${name}`,
      uid: `uid-aks-${name}`,
      labels: { [nodePoolLabel]: poolName, ...(shape.isInitialized === false ? {} : { [initializedLabel]: 'true' }) },
      annotations: {
        ...(shape.doNotDisrupt === undefined ? {} : { [doNotDisruptAnnotation]: shape.doNotDisrupt }),
        ...(shape.workflow === undefined ? {} : { [workflowAnnotation]: shape.workflow }),
      },
      ...(shape.isNodeDeleted ? { deletionTimestamp: longAgo } : {}),
    },
    spec: { taints: shape.isTainted ? [{ key: disruptedTaint, effect: 'NoSchedule' }] : [] },
    status: { conditions: [{ type: 'Ready', status: shape.isReady === false ? 'False' : 'True' }] },
  };
}

export function machineOf(name: string, shape: MachineShape = {}): Machine {
  return { nodeClaim: nodeClaimOf(name, shape), node: shape.hasNode === false ? undefined : nodeOf(name, shape) };
}

/** Machines `<prefix>-0`, `<prefix>-1`, ... of one shape. */
export function machinesOf(prefix: string, count: number, shape: MachineShape = {}): Machine[] {
  return Array.from({ length: count }, (_, index) => machineOf(`${prefix}-${index}`, shape));
}

export interface NodePoolShape {
  readonly budgets?: readonly Budget[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly isDeleted?: true;
}

export function nodePoolOf(shape: NodePoolShape = {}): NodePool {
  return {
    metadata: {
      name: poolName,
      uid: 'uid-pool',
      annotations: shape.annotations ?? { [managedAnnotation]: 'true' },
      ...(shape.isDeleted ? { deletionTimestamp: longAgo } : {}),
    },
    spec: {
      disruption: shape.budgets === undefined ? {} : { budgets: [...shape.budgets] },
      template: { spec: { nodeClassRef, requirements: [] } },
    },
  };
}

export function poolOf(machines: readonly Machine[], shape: NodePoolShape = {}): Pool {
  return { nodePool: nodePoolOf(shape), machines };
}
