import type { AdmissionInput } from '../../karpenter/admission.js';
import type { Budget, Condition, Node, NodeClaim, NodeClass, NodePool, Pod } from '../../karpenter/api.js';
import type { CandidateRules } from '../../karpenter/candidate.js';
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
import { reservation } from '../../karpenter/replacement.js';
import { waitingMark } from '../../karpenter/waitingMark.js';

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
  readonly capacity?: Readonly<Record<string, string>>;
  readonly pods?: readonly Pod[];
  readonly isMarkedWaiting?: true;
  /** A replacement that is not open for pods yet. */
  readonly isReserved?: true;
  /** Annotations of the NodeClaim. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Fields of the NodeClaim's spec. */
  readonly spec?: Partial<NodeClaim['spec']>;
  /** Conditions of the NodeClaim as they are. */
  readonly conditions?: readonly Condition[];
}

/** Rules under which nothing is too young. */
export const easyRules: CandidateRules = { expiryLeadMs: 3_600_000, justStartedMs: 0, flapMs: 0 };

/** An admission of a rollout that knows of nobody, in a cluster with room for all. */
export function admissionInputOf(atMs: number, parts: Partial<AdmissionInput> = {}): AdmissionInput {
  return {
    atMs,
    inFlight: new Set(),
    first: new Set(),
    last: new Set(),
    held: new Set(),
    rules: easyRules,
    cluster: { room: Infinity, movesControlPlane: false },
    ...parts,
  };
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
      annotations: {
        ...(shape.replaces === undefined ? {} : { [replacesAnnotation]: shape.replaces }),
        ...shape.annotations,
      },
    },
    spec: { nodeClassRef, requirements: [], resources: { requests: { ...shape.requests } }, ...shape.spec },
    status: {
      nodeName: `aks-${name}`,
      ...(shape.providerId === undefined ? {} : { providerID: shape.providerId }),
      allocatable: { ...shape.allocatable },
      ...(shape.capacity === undefined ? {} : { capacity: { ...shape.capacity } }),
      conditions: [
        ...(shape.driftedSince === undefined
          ? []
          : [{ ...isTrueSince('Drifted', shape.driftedSince), reason: 'ImageDrift' }]),
        ...(shape.isInstanceTerminating ? [isTrueSince('InstanceTerminating')] : []),
        ...(shape.trueConditions ?? []).map((type) => isTrueSince(type)),
        ...(shape.conditions ?? []),
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
    spec: {
      taints: [
        ...(shape.isTainted ? [{ key: disruptedTaint, effect: 'NoSchedule' }] : []),
        ...(shape.isMarkedWaiting ? [waitingMark] : []),
        ...(shape.isReserved ? [reservation] : []),
      ],
    },
    status: { conditions: [{ type: 'Ready', status: shape.isReady === false ? 'False' : 'True' }] },
  };
}

export function machineOf(name: string, shape: MachineShape = {}): Machine {
  const node = shape.hasNode === false ? undefined : nodeOf(name, shape);
  return { nodeClaim: nodeClaimOf(name, shape), node, pods: shape.pods ?? [] };
}

/** Machines `<prefix>-0`, `<prefix>-1`, ... of one shape. */
export function machinesOf(prefix: string, count: number, shape: MachineShape = {}): Machine[] {
  return Array.from({ length: count }, (_, index) => machineOf(`${prefix}-${index}`, shape));
}

export interface NodePoolShape {
  readonly budgets?: readonly Budget[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly isDeleted?: true;
  readonly limits?: Readonly<Record<string, string>>;
  readonly replicas?: number;
  readonly conditions?: readonly Condition[];
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
      ...(shape.limits === undefined ? {} : { limits: { ...shape.limits } }),
      ...(shape.replicas === undefined ? {} : { replicas: shape.replicas }),
      disruption: shape.budgets === undefined ? {} : { budgets: [...shape.budgets] },
      template: { spec: { nodeClassRef, requirements: [] } },
    },
    status: { conditions: [...(shape.conditions ?? [])] },
  };
}

export const readyNodeClass: NodeClass = {
  metadata: { name: 'default', uid: 'uid-class' },
  spec: {},
  status: { conditions: [isTrueSince('Ready')] },
};

export function poolOf(machines: readonly Machine[], shape: NodePoolShape = {}): Pool {
  return {
    nodePool: nodePoolOf(shape),
    nodeClass: readyNodeClass,
    machines,
    pendingPods: [],
    podDisruptionBudgets: [],
  };
}
