import type { Pod } from '../../karpenter/api.js';

/** What is special about a pod; without anything it runs and can move. */
export interface WorkloadPodShape {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly startedAt?: string;
}

/** A pod of a ReplicaSet in the namespace default. */
export function workloadPodOf(name: string, { annotations, labels, startedAt }: WorkloadPodShape = {}): Pod {
  return {
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ...(labels === undefined ? {} : { labels: { ...labels } }),
    },
    spec: { containers: [] },
    status: { phase: 'Running', ...(startedAt === undefined ? {} : { startTime: startedAt }) },
  };
}
