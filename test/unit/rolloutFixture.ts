import type { Admission } from '../../karpenter/admission.js';
import type { Candidate } from '../../karpenter/candidate.js';
import type { PoolObservation } from '../../workflows/activityInterfaces.js';
import type { RolloutStatus } from '../../workflows/messages.js';

export const rolloutSettings = {
  quietMs: 60_000,
  childCheckMs: 30_000,
  backoffMs: 60_000,
  backoffMaxMs: 600_000,
  haltAfterFailures: 5,
};

const replacementSettings = {
  launchTimeoutMs: 1,
  registrationTtlMs: 1,
  initializeTimeoutMs: 1,
  drainTimeoutMs: 1,
  deleteTimeoutMs: 1,
  waitIntervalMs: 1,
  pollIntervalMs: 1,
};

export function candidateOf(nodeClaim: string): Candidate {
  return {
    nodeClaim,
    uid: `uid-${nodeClaim}`,
    node: `aks-${nodeClaim}`,
    reason: 'Drifted',
    reasonDetail: 'ImageDrift',
    since: '2026-01-05T12:00:00Z',
  };
}

export function admissionOf(parts: Partial<Admission> = {}): Admission {
  return {
    nodes: 10,
    disrupted: [],
    allowances: [{ reason: 'Drifted', allowed: 5 }],
    budgetErrors: [],
    start: [],
    waiting: [],
    blocked: [],
    phases: [],
    closed: undefined,
    ...parts,
  };
}

/** What a look at a pool of these NodeClaims says, of which the first ones may start. */
export function observationOf(
  nodeClaims: readonly string[],
  parts: Partial<Admission> & { readonly children?: PoolObservation['children'] } = {},
): PoolObservation {
  const { children = [], ...admission } = parts;
  return {
    admission: admissionOf(admission),
    uids: nodeClaims.map((nodeClaim) => `uid-${nodeClaim}`),
    children,
    settings: { rollout: rolloutSettings, replacement: replacementSettings },
  };
}

export function statusOf(parts: Partial<RolloutStatus> = {}): RolloutStatus {
  return {
    nodePool: 'general-purpose',
    replaced: [],
    notNeeded: [],
    failures: [],
    inFlight: [],
    halted: null,
    backoffUntil: null,
    admission: admissionOf(),
    ...parts,
  };
}
