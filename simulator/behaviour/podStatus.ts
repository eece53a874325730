import type { Condition } from '../../karpenter/api.js';
import { withCondition } from '../../karpenter/conditions.js';
import type { Pod } from './objects.js';

const runningConditions = ['PodScheduled', 'Initialized', 'PodReadyToStartContainers', 'ContainersReady', 'Ready'];

/** The status of a pod whose containers all run and are ready. */
export function runningStatus(pod: Pod, at: string): object {
  return {
    phase: 'Running',
    startTime: at,
    conditions: runningConditions.reduce<readonly Condition[]>(
      (conditions, type) => withCondition(conditions, { type, status: 'True' }, at),
      pod.status?.conditions ?? [],
    ),
    containerStatuses: pod.spec.containers.map(({ name, image }) => ({
      name,
      image: image ?? '',
      imageID: '',
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: at } },
    })),
  };
}
