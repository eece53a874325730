import type { Admission } from '../../karpenter/admission.js';
import type { AdmissionReport } from '../../karpenter/admissionReport.js';
import { reportAdmission } from '../../karpenter/admissionReport.js';
import type { BlockedCandidate, Candidate } from '../../karpenter/candidate.js';
import type { InFlight, PoolObservation } from '../../workflows/activityInterfaces.js';
import type { RolloutStatus } from '../../workflows/messages.js';
import type { ReplacementResult } from '../../workflows/replacementTypes.js';
import type { ChildEnd } from '../../workflows/rolloutState.js';
import { RolloutState } from '../../workflows/rolloutState.js';

export const startMs = Date.UTC(2026, 0, 5, 12);
export const rolloutInput = { cluster: 'c', nodePool: 'general-purpose' };
export const allocationFailed: ChildEnd = { kind: 'failed', code: 'AllocationFailed', message: 'no room' };

export const rolloutSettings = {
  quietMs: 60_000,
  childCheckMs: 30_000,
  lookAgainMs: 300_000,
  backoffMs: 60_000,
  backoffMaxMs: 600_000,
  haltAfterFailures: 5,
};

const replacementSettings = {
  launchTimeoutMs: 1,
  registrationTtlMs: 1,
  initializeTimeoutMs: 1,
  drainTimeoutMs: 1,
  detachTimeoutMs: 1,
  deleteTimeoutMs: 1,
  attemptTimeoutMs: 1,
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
    isEmpty: false,
    carriesControlPlane: false,
  };
}

export function blockedOf(nodeClaim: string, why: string, untilMs: number | null = null): BlockedCandidate {
  return { ...childOf(nodeClaim), reason: 'Drifted', reasonDetail: 'ImageDrift', why, remedy: '', untilMs };
}

/** As a rollout hears of it. */
export function admissionOf(parts: Partial<Admission> = {}): AdmissionReport {
  const admission: Admission = {
    nodes: 10,
    disrupted: [],
    allowances: [{ reason: 'Drifted', allowed: 5, bindingBudget: 0 }],
    budgetErrors: [],
    nextChangeMs: null,
    nextLookMs: parts.nextChangeMs !== undefined && (parts.waiting ?? []).length > 0 ? parts.nextChangeMs : null,
    start: [],
    waiting: [],
    blocked: [],
    markChanges: [],
    phases: [],
    isCapped: false,
    closed: undefined,
    ...parts,
  };
  return reportAdmission(admission, new Set());
}

/** The NodeClaims that these tests speak of. */
const everybody = ['a', 'b', 'c', 'd', 'e'];

/** What a look at a pool says in which these NodeClaims are to be replaced, and no other. */
export function observationOf(
  nodeClaims: readonly string[],
  parts: Partial<Admission> & {
    readonly children?: PoolObservation['children'];
    /** NodeClaims that are there and not to be replaced. */
    readonly atPeace?: readonly string[];
  } = {},
): PoolObservation {
  const { children = [], atPeace = [], ...admission } = parts;
  return {
    admission: admissionOf(admission),
    settled: everybody.filter((name) => !nodeClaims.includes(name)).map((name) => `uid-${name}`),
    gone: everybody
      .filter((name) => !nodeClaims.includes(name) && !atPeace.includes(name))
      .map((name) => `uid-${name}`),
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
    interventions: [],
    paused: null,
    skipped: [],
    ...parts,
  };
}

export function childOf(nodeClaim: string): InFlight {
  return { nodeClaim, uid: `uid-${nodeClaim}` };
}

export function replaced(nodeClaim: string): ReplacementResult {
  const offering = { instanceType: 'Standard_D2as_v5', zone: 'westus2-1', capacityType: 'on-demand' };
  return {
    kind: 'replaced',
    nodeClaim,
    replacement: `${nodeClaim}-new`,
    reason: 'Drifted',
    reasonDetail: 'ImageDrift',
    offering,
    launchFailures: [],
  };
}

/** A rollout that has looked at its pool once and found nothing to do. */
export function observedRollout(nodeClaims: readonly string[] = [], parts: Partial<Admission> = {}): RolloutState {
  const rollout = new RolloutState(rolloutInput);
  rollout.observed(observationOf(nodeClaims, parts), startMs);
  return rollout;
}

/** The rollout starts the NodeClaim's replacement, which ends like that. */
export function endChild(rollout: RolloutState, nodeClaim: string, end: ChildEnd, nowMs: number): void {
  rollout.started(candidateOf(nodeClaim));
  rollout.childEnded(childOf(nodeClaim), end, nowMs);
}

/** Of the candidates `a` and `b`, who may start at that instant. */
export function mayStart(rollout: RolloutState, nowMs: number): string[] {
  const start = [candidateOf('a'), candidateOf('b')];
  return rollout.observed(observationOf(['a', 'b'], { start }), nowMs).map(({ nodeClaim }) => nodeClaim);
}
