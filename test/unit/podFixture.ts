import type { LabelSelector, Pod, PodDisruptionBudget } from '../../karpenter/api.js';
import { doNotDisruptAnnotation } from '../../karpenter/labels.js';

/** What is special about a pod; without anything it runs, is ready, and belongs to a ReplicaSet. */
export interface PodShape {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly doNotDisrupt?: string;
  readonly ownerKind?: string;
  readonly phase?: string;
  readonly isReady?: boolean;
  /** null: no kubelet has taken it on yet. */
  readonly startedAt?: string | null;
  readonly isTerminating?: true;
  readonly isMirror?: true;
  readonly nodeName?: string;
  readonly nominatedTo?: string;
  readonly tolerations?: Pod['spec']['tolerations'];
  /** Fields of the spec as they are. */
  readonly spec?: Partial<Pod['spec']>;
}

export const podStartedAt = '2026-01-05T10:00:00Z';

export function podOf(name: string, shape: PodShape = {}): Pod {
  const { namespace = 'default', ownerKind = 'ReplicaSet', phase = 'Running', isReady = true } = shape;
  const { startedAt = podStartedAt } = shape;
  return {
    metadata: {
      name,
      namespace,
      uid: `uid-${namespace}-${name}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(shape.isTerminating ? { deletionTimestamp: '2026-01-05T11:00:00Z' } : {}),
      labels: { ...shape.labels },
      annotations: {
        ...(shape.doNotDisrupt === undefined ? {} : { [doNotDisruptAnnotation]: shape.doNotDisrupt }),
        ...(shape.isMirror ? { 'kubernetes.io/config.mirror': 'hash' } : {}),
      },
      ownerReferences: [{ kind: ownerKind, name: 'owner', uid: 'uid-owner' }],
    },
    spec: {
      containers: [],
      ...(shape.nodeName === undefined ? {} : { nodeName: shape.nodeName }),
      ...(shape.tolerations === undefined ? {} : { tolerations: shape.tolerations }),
      ...shape.spec,
    },
    status: {
      phase,
      ...(startedAt === null ? {} : { startTime: startedAt }),
      ...(shape.nominatedTo === undefined ? {} : { nominatedNodeName: shape.nominatedTo }),
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    },
  };
}

export interface BudgetShape {
  readonly namespace?: string;
  /** Default: everything in the namespace. */
  readonly selector?: LabelSelector;
  readonly policy?: 'AlwaysAllow' | 'IfHealthyBudget';
  readonly disruptionsAllowed?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
}

/** A PodDisruptionBudget; without anything it allows nothing to every pod of the namespace `default`. */
export function podDisruptionBudgetOf(name: string, shape: BudgetShape = {}): PodDisruptionBudget {
  const {
    namespace = 'default',
    selector = {},
    disruptionsAllowed = 0,
    currentHealthy = 1,
    desiredHealthy = 2,
  } = shape;
  return {
    metadata: { name, namespace, uid: `uid-${namespace}-${name}`, generation: 1 },
    spec: { selector, ...(shape.policy === undefined ? {} : { unhealthyPodEvictionPolicy: shape.policy }) },
    status: { disruptionsAllowed, currentHealthy, desiredHealthy },
  };
}
