import type { ClusterFault } from '../../simulator/cluster/faults.js';
import type { PlannedFault } from './plan.js';

type FaultBody = Pick<ClusterFault, 'verb' | 'resource' | 'then'>;

const conflict = { kind: 'fail', status: 409, reason: 'Conflict', message: 'injected: modified by another' } as const;
const throttled = { kind: 'fail', status: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 } as const;
const broken = { kind: 'fail', status: 500, reason: 'InternalError', message: 'injected: etcd' } as const;
const expired = { kind: 'fail', status: 410, reason: 'Expired', message: 'injected: too old' } as const;

/** What the API server does to us, by name: the names are what a run's line shows. */
const faults = {
  'node 409': { verb: 'patch', resource: 'nodes', then: conflict },
  'node patch lost': { verb: 'patch', resource: 'nodes', then: { kind: 'lostResponse' } },
  'node patch 500': { verb: 'patch', resource: 'nodes', then: broken },
  'node list 500': { verb: 'list', resource: 'nodes', then: broken },
  'node delete 500': { verb: 'delete', resource: 'nodes', then: broken },
  'NodeClaim 409': { verb: 'patch', resource: 'nodeclaims', then: conflict },
  'NodeClaim patch 429': { verb: 'patch', resource: 'nodeclaims', then: throttled },
  'NodeClaim patch 500': { verb: 'patch', resource: 'nodeclaims', then: broken },
  'NodeClaim patch lost': { verb: 'patch', resource: 'nodeclaims', then: { kind: 'lostResponse' } },
  'NodeClaim patch hangs': { verb: 'patch', resource: 'nodeclaims', then: { kind: 'hang' } },
  'NodeClaim create 500': { verb: 'create', resource: 'nodeclaims', then: broken },
  'NodeClaim create lost': { verb: 'create', resource: 'nodeclaims', then: { kind: 'lostResponse' } },
  'NodeClaim delete lost': { verb: 'delete', resource: 'nodeclaims', then: { kind: 'lostResponse' } },
  'NodeClaim get reset': { verb: 'get', resource: 'nodeclaims', then: { kind: 'reset' } },
  'NodeClaim get slow': { verb: 'get', resource: 'nodeclaims', then: { kind: 'delay', ms: 1_000 } },
  'NodeClaim get 429': { verb: 'get', resource: 'nodeclaims', then: throttled },
  'pod list 500': { verb: 'list', resource: 'pods', then: broken },
  'eviction 429': { verb: 'evict', resource: 'pods', then: throttled },
  'eviction 500': { verb: 'evict', resource: 'pods', then: broken },
  'eviction lost': { verb: 'evict', resource: 'pods', then: { kind: 'lostResponse' } },
  'event 500': { verb: 'create', resource: 'events', then: broken },
  'watch silent': { verb: 'watch', then: { kind: 'silence' } },
  'watch ends': { verb: 'watch', then: { kind: 'end' } },
  'watch 410': { verb: 'watch', then: expired },
} as const satisfies Readonly<Record<string, FaultBody>>;

export type KubernetesFaultKind = keyof typeof faults;

function isKind(name: string): name is KubernetesFaultKind {
  return name in faults;
}

export const kubernetesFaultKinds: readonly KubernetesFaultKind[] = Object.keys(faults).filter(isKind);

/** Only for our own requests: kubelets, scheduler and controllers of the simulated cluster work undisturbed. */
const ours = '^driftless/(worker|watcher)$';

export function kubernetesFault({ kind, after, count }: PlannedFault<KubernetesFaultKind>): ClusterFault {
  const fault: FaultBody = faults[kind];
  // Watches are few: a fault that lets many of them pass would hit none.
  return { ...fault, userAgent: ours, after: fault.verb === 'watch' ? 0 : after, count };
}
