import type { WorkflowClient } from '@temporalio/client';

import { admit } from '../karpenter/admission.js';
import type { Admission } from '../karpenter/admission.js';
import { disruptionReasonOf } from '../karpenter/candidate.js';
import type { Pool } from '../karpenter/pool.js';
import { isTainted, joinPool } from '../karpenter/pool.js';
import type {
  ChildReport,
  InFlight,
  ObservePoolInput,
  PoolObservation,
  RolloutActivities,
} from '../workflows/activityInterfaces.js';
import type { ActivityEnvironment } from './environment.js';
import { checkCluster } from './environment.js';
import { listNodeClaims } from './kubernetes/nodeClaims.js';
import { readNodePool } from './kubernetes/nodePools.js';
import { listNodes } from './kubernetes/nodes.js';
import { describeChildren } from './temporal/children.js';

/** Creates the parent's one activity: reads the live pool, decides who may start, describes children. */
export function createRolloutActivities(
  environment: ActivityEnvironment,
  workflows: WorkflowClient,
): RolloutActivities {
  return {
    async observePool(input: ObservePoolInput): Promise<PoolObservation> {
      checkCluster(environment, input.cluster);
      const { rollout, replacement } = environment.settings;
      const settings = { rollout, replacement };
      const pool = await readPool(environment, input.nodePool);
      const unknown = input.discover && pool !== undefined ? possibleChildren(pool) : [];
      const described = await describeChildren(workflows, input.cluster, [...input.describe, ...unknown]);
      // Of those that nobody told us of, the running ones hold permits, and those that a person stopped wait for a person.
      const known = new Set(input.describe.map(({ uid }) => uid));
      const children = described.filter(({ uid, status }) => known.has(uid) || heeded.has(status));
      if (pool === undefined) return { admission: emptyAdmission(input.nodePool), uids: [], children, settings };
      const admission = admit(pool, {
        atMs: Date.now(),
        inFlight: new Set(input.inFlight.map(({ nodeClaim }) => nodeClaim)),
        first: new Set(input.first),
        last: new Set(input.last),
        held: new Set(input.held),
      });
      return { admission, uids: disruptedUids(pool), children, settings };
    },
  };
}

const heeded: ReadonlySet<ChildReport['status']> = new Set(['running', 'canceled', 'terminated']);

async function readPool({ kubernetes }: ActivityEnvironment, name: string): Promise<Pool | undefined> {
  const nodePool = await readNodePool(kubernetes, name);
  if (nodePool === undefined) return undefined;
  const [nodeClaims, nodes] = await Promise.all([listNodeClaims(kubernetes, name), listNodes(kubernetes, name)]);
  return joinPool(nodePool, nodeClaims, nodes);
}

/** A failure is forgotten with its reason: when the NodeClaim is gone, or its drift has cleared. */
function disruptedUids({ machines }: Pool): readonly string[] {
  const disrupted = machines.filter((machine) => disruptionReasonOf(machine) !== undefined);
  return disrupted.map(({ nodeClaim }) => nodeClaim.metadata.uid);
}

/** The NodeClaims for which a replacement may be running: those with a reason, and those whose node is tainted. */
function possibleChildren(pool: Pool): readonly InFlight[] {
  return pool.machines
    .filter((machine) => disruptionReasonOf(machine) !== undefined || isTainted(machine))
    .map(({ nodeClaim }) => ({ nodeClaim: nodeClaim.metadata.name, uid: nodeClaim.metadata.uid }));
}

function emptyAdmission(nodePool: string): Admission {
  return {
    nodes: 0,
    disrupted: [],
    allowances: [],
    budgetErrors: [],
    nextChangeMs: null,
    start: [],
    waiting: [],
    blocked: [],
    phases: [],
    closed: `NodePool ${nodePool} does not exist`,
  };
}
