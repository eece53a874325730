import type { Admission } from './admission.js';
import { admit } from './admission.js';
import type { Condition, NodeClaim } from './api.js';
import type { Disruption } from './disruptionReason.js';
import { disruptionOf, expiryDueMs } from './disruptionReason.js';
import { conditionTypes, getCondition, isTrue } from './conditions.js';
import { parseGoDurationMs } from './goDuration.js';
import { replacesAnnotation, workflowAnnotation } from './labels.js';
import type { Phase } from './phase.js';
import type { PlanQuestion } from './plan.js';
import { planPool } from './plan.js';
import type { Machine, Pool } from './pool.js';
import { isDeleting, isTainted } from './pool.js';
import type { UnderReplacement } from './underReplacement.js';
import { disruptedByOthersWhy, findUnderReplacement } from './underReplacement.js';
import type { PermitHolder, WaitsFor } from './waitsFor.js';
import { permitHolders, waitsFor } from './waitsFor.js';

/** A NodeClaim at the other end of a replacement. */
export interface Counterpart {
  readonly nodeClaim: string;
  readonly uid: string;
  readonly node: string | null;
  readonly conditions: readonly Condition[];
}

/** When a plan has the node start. */
export interface ExpectedStart {
  readonly wave: number;
  /** ISO 8601. */
  readonly at: string;
}

/** What is happening to one node, or why nothing is. Instants are ISO 8601; null: none is known. */
export type Why =
  /** Its whole NodePool is left alone; disruption: what would ask for it. */
  | { readonly kind: 'closed'; readonly why: string; readonly disruption: Disruption | null }
  /** Nothing asks for its replacement; due: when its age will; expires: when Karpenter ends it, whatever the budgets say. */
  | {
      readonly kind: 'notAsked';
      readonly conditions: readonly Condition[];
      readonly due: string | null;
      readonly expires: string | null;
    }
  /** A permit is free: its replacement starts with the rollout's next look. */
  | { readonly kind: 'next'; readonly disruption: Disruption; readonly isEmpty: boolean }
  /** No permit is free; place: in the line of those that wait, from 1. */
  | {
      readonly kind: 'waiting';
      readonly disruption: Disruption;
      readonly place: number;
      readonly line: number;
      readonly waitsFor: WaitsFor;
      readonly disrupted: number;
      readonly holders: readonly PermitHolder[];
      /** Those that get the free permits before it. */
      readonly ahead: readonly string[];
      /** When the budgets change. */
      readonly nextChange: string | null;
      readonly expected: ExpectedStart | null;
    }
  /** It may not be replaced now; until: when that ends by itself. */
  | {
      readonly kind: 'blocked';
      readonly disruption: Disruption;
      readonly why: string;
      readonly remedy: string;
      readonly until: string | null;
    }
  /** A replacement of ours has it in hand. */
  | {
      readonly kind: 'replacing';
      readonly phase: Phase;
      /** Since when, by its DisruptionReason. */
      readonly since: string | null;
      /** What its DisruptionReason is. */
      readonly reason: string | null;
      readonly replacement: Counterpart | null;
      readonly workflowId: string | null;
    }
  /** It takes the place of a node that is still there. */
  | {
      readonly kind: 'replacement';
      readonly of: Counterpart;
      readonly phase: Phase;
      readonly conditions: readonly Condition[];
      readonly workflowId: string | null;
    }
  /** Somebody else disrupts it: it counts against the budget, and is left to them. */
  | { readonly kind: 'disruptedByOthers'; readonly why: string }
  /** It is being deleted, and no replacement of ours does it. */
  | { readonly kind: 'deleting'; readonly since: string | null; readonly finalizers: readonly string[] };

/** The answer about one node of a NodePool. */
export interface NodeWhy {
  readonly nodePool: string;
  readonly nodeClaim: string;
  readonly uid: string;
  readonly node: string | null;
  /** The workflow that made it in the place of another NodeClaim; null: Karpenter made it. */
  readonly madeBy: string | null;
  readonly answer: Why;
}

/** What the answer depends on beside the pool: the same as a plan's. */
export type WhyQuestion = PlanQuestion;

/**
 * What is happening to one node of a pool, or why nothing is, from the cluster alone: a pause, a halt, a backoff or a skip of its rollout
 * does not show.
 */
export function explainNode(pool: Pool, machine: Machine, question: WhyQuestion): NodeWhy {
  const { name: nodeClaim, uid, annotations } = machine.nodeClaim.metadata;
  const answer = answerFor(pool, machine, question);
  return {
    nodePool: pool.nodePool.metadata.name,
    nodeClaim,
    uid,
    node: machine.node?.metadata.name ?? null,
    madeBy: annotations?.[replacesAnnotation] === undefined ? null : (annotations[workflowAnnotation] ?? null),
    answer,
  };
}

function answerFor(pool: Pool, machine: Machine, question: WhyQuestion): Why {
  const { uid, deletionTimestamp, finalizers } = machine.nodeClaim.metadata;
  const underReplacement = findUnderReplacement(pool);
  const own = underReplacement.find((row) => row.uid === uid);
  if (own !== undefined) return replacing(own);
  if (isDeleting(machine) || isTrue(machine.nodeClaim, conditionTypes.instanceTerminating)) {
    const since = deletionTimestamp ?? machine.node?.metadata.deletionTimestamp ?? null;
    return { kind: 'deleting', since, finalizers: finalizers ?? [] };
  }
  const served = underReplacement.find((row) => row.replacementMachine?.nodeClaim.metadata.uid === uid);
  if (served !== undefined) return replacementOf(served, machine);
  if (isTainted(machine)) return { kind: 'disruptedByOthers', why: disruptedByOthersWhy(machine) };
  return standing(pool, machine, question, new Set(underReplacement.map((row) => row.nodeClaim)));
}

function replacing({ machine, phase, replacementMachine, workflowId }: UnderReplacement): Why {
  const { nodeClaim } = machine;
  const condition = isTrue(nodeClaim, conditionTypes.disruptionReason)
    ? getCondition(nodeClaim, conditionTypes.disruptionReason)
    : undefined;
  return {
    kind: 'replacing',
    phase,
    since: condition?.lastTransitionTime ?? null,
    reason: condition?.reason ?? null,
    replacement: replacementMachine === undefined ? null : counterpart(replacementMachine),
    workflowId: workflowId ?? null,
  };
}

function replacementOf(served: UnderReplacement, machine: Machine): Why {
  return {
    kind: 'replacement',
    of: counterpart(served.machine),
    phase: served.phase,
    conditions: machine.nodeClaim.status?.conditions ?? [],
    workflowId: served.workflowId ?? null,
  };
}

function counterpart({ nodeClaim, node }: Machine): Counterpart {
  const { name, uid } = nodeClaim.metadata;
  return {
    nodeClaim: name,
    uid,
    node: node?.metadata.name ?? null,
    conditions: nodeClaim.status?.conditions ?? [],
  };
}

/** The answer about a node that nobody has touched. */
function standing(pool: Pool, machine: Machine, question: WhyQuestion, inFlight: ReadonlySet<string>): Why {
  const { atMs, rules, cluster, pausedWhy } = question;
  const { uid } = machine.nodeClaim.metadata;
  const none = new Set<string>();
  const admission = admit(pool, { atMs, inFlight, first: none, last: none, held: none, rules, cluster, pausedWhy });
  const disruption = disruptionOf(pool.nodePool, machine.nodeClaim, rules, atMs);
  if (admission.closed !== undefined) {
    return { kind: 'closed', why: admission.closed, disruption: disruption ?? null };
  }
  if (disruption === undefined) return notAsked(machine.nodeClaim, question);
  const blocked = admission.blocked.find((candidate) => candidate.uid === uid);
  if (blocked !== undefined) {
    const { why, remedy, untilMs } = blocked;
    return { kind: 'blocked', disruption, why, remedy, until: instant(untilMs) };
  }
  const starts = admission.start.find((candidate) => candidate.uid === uid);
  if (starts !== undefined) return { kind: 'next', disruption, isEmpty: starts.isEmpty };
  return waiting(pool, uid, disruption, admission, question);
}

function waiting(pool: Pool, uid: string, disruption: Disruption, admission: Admission, question: WhyQuestion): Why {
  const index = admission.waiting.findIndex((candidate) => candidate.uid === uid);
  const candidate = admission.waiting[index];
  // admit answers about every candidate that is not in flight.
  if (candidate === undefined) throw new Error(`NodeClaim ${uid} is neither admitted, nor blocked, nor waiting`);
  return {
    kind: 'waiting',
    disruption,
    place: index + 1,
    line: admission.waiting.length,
    waitsFor: waitsFor(pool, admission, candidate, question.cluster, question.atMs),
    disrupted: admission.disrupted.length,
    holders: permitHolders(pool, admission),
    ahead: admission.start.map(({ nodeClaim }) => nodeClaim),
    nextChange: instant(admission.nextChangeMs),
    expected: expectedStart(pool, uid, question),
  };
}

function expectedStart(pool: Pool, uid: string, question: WhyQuestion): ExpectedStart | null {
  const { waves } = planPool(pool, question);
  const wave = waves.find(({ nodes }) => nodes.some((node) => node.uid === uid));
  return wave === undefined ? null : { wave: wave.number, at: new Date(wave.startsMs).toISOString() };
}

function notAsked(nodeClaim: NodeClaim, { rules, atMs }: WhyQuestion): Why {
  const dueMs = expiryDueMs(nodeClaim, rules);
  const { creationTimestamp } = nodeClaim.metadata;
  const lifeMs = dueMs === undefined ? undefined : parseGoDurationMs(nodeClaim.spec.expireAfter ?? '');
  const expiresMs = lifeMs === undefined ? null : Date.parse(creationTimestamp ?? '') + lifeMs;
  return {
    kind: 'notAsked',
    conditions: nodeClaim.status?.conditions ?? [],
    due: dueMs === undefined || dueMs <= atMs ? null : instant(dueMs),
    expires: instant(expiresMs),
  };
}

function instant(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}
