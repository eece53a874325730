import type { WorkflowClient } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';

import type { Admission } from '../karpenter/admission.js';
import { admit } from '../karpenter/admission.js';
import type { AdmissionReport } from '../karpenter/admissionReport.js';
import { reportAdmission } from '../karpenter/admissionReport.js';
import { disruptionOf } from '../karpenter/disruptionReason.js';
import { nodePoolLabel } from '../karpenter/labels.js';
import type { Pool } from '../karpenter/pool.js';
import { isTainted } from '../karpenter/pool.js';
import type {
  ChildReport,
  InFlight,
  LineState,
  NodeClaimRef,
  ObservePoolInput,
  PoolObservation,
  RolloutActivities,
} from '../workflows/activityInterfaces.js';
import { failureTypes } from '../workflows/failures.js';
import { viewClusterFromCache } from './clusterView.js';
import type { ActivityEnvironment } from './environment.js';
import { checkCluster } from './environment.js';
import { Grants } from './grants.js';
import { readNodeClaim } from './kubernetes/nodeClaims.js';
import { applyMarkChanges } from './markWaiting.js';
import { readPool } from './readPool.js';
import { describeChildren } from './temporal/children.js';

/** Creates the parent's activities: one reads the live pool, decides who may start, and describes children. */
export function createRolloutActivities(
  environment: ActivityEnvironment,
  workflows: WorkflowClient,
): RolloutActivities {
  const grants = new Grants();
  return {
    async observePool(input: ObservePoolInput): Promise<PoolObservation> {
      checkCluster(environment, input.cluster);
      const { rollout, replacement } = environment.settings;
      const settings = { rollout, replacement };
      const pool = await readPool(environment, input.nodePool);
      const disrupted = pool === undefined ? [] : findDisrupted(environment, pool);
      const unknown = input.discover && pool !== undefined ? distinct([...disrupted, ...findTainted(pool)]) : [];
      const described = await describeChildren(workflows, input.cluster, [...input.describe, ...unknown]);
      // Of those that nobody told us of, the running ones hold permits, and those that a person stopped wait for a person.
      const known = new Set(input.describe.map(({ uid }) => uid));
      const children = described.filter(({ uid, status }) => known.has(uid) || heeded.has(status));
      const disruptedUids = new Set(disrupted.map(({ uid }) => uid));
      const named = [...new Set([...input.first, ...input.last, ...input.held])];
      const settled = named.filter((uid) => !disruptedUids.has(uid));
      const presentUids = new Set(pool?.machines.map(({ nodeClaim }) => nodeClaim.metadata.uid));
      const gone = named.filter((uid) => !presentUids.has(uid));
      const rest = { settled, gone, children, settings };
      if (pool === undefined) return { admission: emptyReport(input.nodePool), ...rest };
      const admission = admitPool(environment, grants, pool, input);
      const started = admission.start.map(({ nodeClaim }) => nodeClaim);
      grants.record(input.nodePool, [...input.inFlight, ...started], Date.now());
      return { admission: reportAdmission(admission, new Set(input.inFlight)), ...rest };
    },

    async markWaiting(input: LineState): Promise<void> {
      checkCluster(environment, input.cluster);
      const pool = await readPool(environment, input.nodePool);
      if (pool === undefined || environment.killSwitch.pausedWhy !== undefined) return;
      await applyMarkChanges(environment.kubernetes, admitPool(environment, grants, pool, input).markChanges);
    },

    async findNodeClaim({ cluster, nodePool, nodeClaim }: NodeClaimRef): Promise<InFlight> {
      checkCluster(environment, cluster);
      const live = await readNodeClaim(environment.kubernetes, nodeClaim);
      if (live?.metadata.labels?.[nodePoolLabel] !== nodePool) {
        const why = `NodePool ${nodePool} has no NodeClaim ${nodeClaim}`;
        throw ApplicationFailure.nonRetryable(why, failureTypes.unknownNodeClaim);
      }
      return { nodeClaim, uid: live.metadata.uid };
    },
  };
}

const heeded: ReadonlySet<ChildReport['status']> = new Set(['running', 'canceled', 'terminated']);

function admitPool(environment: ActivityEnvironment, grants: Grants, pool: Pool, input: LineState): Admission {
  const atMs = Date.now();
  return admit(pool, {
    atMs,
    inFlight: new Set(input.inFlight),
    first: new Set(input.first),
    last: new Set(input.last),
    held: new Set(input.held),
    rules: environment.settings.candidates,
    cluster: viewClusterFromCache(environment, grants, input.nodePool, atMs),
    pausedWhy: environment.killSwitch.pausedWhy,
  });
}

/** A failure is forgotten with its reason: when the NodeClaim is gone, or its drift has cleared. */
function findDisrupted({ settings }: ActivityEnvironment, { nodePool, machines }: Pool): readonly InFlight[] {
  const now = Date.now();
  return machines
    .filter(({ nodeClaim }) => disruptionOf(nodePool, nodeClaim, settings.candidates, now) !== undefined)
    .map(({ nodeClaim }) => ({ nodeClaim: nodeClaim.metadata.name, uid: nodeClaim.metadata.uid }));
}

/** A node that is tainted may be in the hands of a replacement whose reason has gone. */
function findTainted({ machines }: Pool): readonly InFlight[] {
  return machines
    .filter(isTainted)
    .map(({ nodeClaim }) => ({ nodeClaim: nodeClaim.metadata.name, uid: nodeClaim.metadata.uid }));
}

function distinct(children: readonly InFlight[]): readonly InFlight[] {
  return [...new Map(children.map((child) => [child.uid, child])).values()];
}

function emptyReport(nodePool: string): AdmissionReport {
  const none = { count: 0, first: [] };
  return {
    nodes: 0,
    disrupted: 0,
    disruptedByOthers: 0,
    allowances: [],
    budgetErrors: [],
    nextChangeMs: null,
    nextLookMs: null,
    start: [],
    waiting: none,
    blocked: none,
    phases: none,
    markChanges: 0,
    isCapped: false,
    closed: `NodePool ${nodePool} does not exist`,
  };
}
