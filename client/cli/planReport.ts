import type { BlockedCandidate } from '../../karpenter/candidate.js';
import type { Offering } from '../../karpenter/offering.js';
import type { NodeUnderWay, Plan, PlannedNode, Unplanned, Wave } from '../../karpenter/plan.js';
import type { DurationEstimate } from '../../karpenter/planDurations.js';
import type { Phase } from '../../karpenter/phase.js';
import type { PermitHolder } from '../../karpenter/waitsFor.js';
import { waitsForText } from '../../karpenter/waitsFor.js';

/** What `driftless plan -o json` answers. Instants are ISO 8601, durations are seconds. */
export interface PlanReport {
  readonly nodePool: string;
  /** The instant at which the rollout would start. */
  readonly at: string;
  /** Why the whole pool is left alone; null: it is not. */
  readonly closed: string | null;
  /** Initialized nodes whose instance is not terminating: what percentages are of. */
  readonly nodes: number;
  /** NodeClaims that count against the budgets now. */
  readonly disrupted: readonly string[];
  /** What the budgets allow now; null: nothing bounds it. */
  readonly allowances: readonly { readonly reason: string; readonly allowed: number | null }[];
  /** When the budgets change next; null: not within five years. */
  readonly budgetsChangeAt: string | null;
  readonly durations: Readonly<Record<'initialize' | 'drain' | 'delete', DurationReport>>;
  /** Replacements that have begun already. */
  readonly underWay: readonly UnderWayReport[];
  readonly waves: readonly WaveReport[];
  /** Who may not be replaced now; who can be later stands in a wave as well. */
  readonly blocked: readonly BlockedReport[];
  /** Who asks for a replacement and would get none, as far as can be known; null: nobody. */
  readonly unplanned: UnplannedReport | null;
  readonly surge: SurgeReport;
  /** When all that is planned or under way has ended; null: nothing is. */
  readonly plannedEndsAt: string | null;
  /** When the whole pool is done; null: that cannot be known, or there is nothing to do. */
  readonly endsAt: string | null;
}

interface DurationReport {
  readonly seconds: number;
  /** The median of so many that the pool's NodeClaims show; 0: it is assumed. */
  readonly seen: number;
}

interface TimesReport {
  readonly startsAt: string;
  /** The replacement is Initialized; null: none is needed, or it is so already. */
  readonly initializedAt: string | null;
  /** The old instance begins to terminate. */
  readonly permitFreeAt: string;
  /** The old instance is gone. */
  readonly endsAt: string;
}

interface UnderWayReport extends TimesReport {
  readonly nodeClaim: string;
  readonly phase: Phase;
  readonly replacement: string | null;
}

/** Those that start at the same instant. */
interface WaveReport {
  /** From 1. */
  readonly wave: number;
  readonly startsAt: string;
  /** The last of its permits is free. */
  readonly permitsFreeAt: string;
  /** Its last old instance is gone. */
  readonly endsAt: string;
  readonly nodes: readonly NodeReport[];
}

interface NodeReport extends TimesReport {
  /** Its place in the order of starts, from 1. */
  readonly order: number;
  readonly nodeClaim: string;
  readonly node: string;
  readonly reason: string;
  readonly reasonDetail: string;
  /** Since when it asks; empty where nothing tells. */
  readonly since: string;
  /** It goes without a replacement. */
  readonly isEmpty: boolean;
  /** What it runs on; null: its labels do not say. */
  readonly before: Offering | null;
  /** The first offering that its replacement tries; null: there is none, or it cannot be told. */
  readonly after: Offering | null;
  /** What the replacement takes; null: it cannot be told. */
  readonly vcpus: number | null;
}

interface BlockedReport {
  readonly nodeClaim: string;
  readonly reason: string;
  readonly reasonDetail: string;
  readonly why: string;
  /** What would change it. */
  readonly remedy: string;
  /** When it ends by itself; null: that cannot be known. */
  readonly until: string | null;
}

interface UnplannedReport {
  readonly nodeClaims: readonly string[];
  /** What the first of them waits for. */
  readonly why: string;
  /** Who counts as disrupted then. */
  readonly heldBy: readonly PermitHolder[];
}

interface SurgeReport {
  /** vCPUs beyond what the pool has now, at the most. */
  readonly vcpus: number;
  readonly at: string | null;
  /** Replacements whose vCPUs cannot be told and are not counted. */
  readonly unknown: number;
}

function instant(atMs: number): string {
  return new Date(atMs).toISOString();
}

function instantOrNull(atMs: number | null): string | null {
  return atMs === null ? null : instant(atMs);
}

function reportDuration({ durationMs, seen }: DurationEstimate): DurationReport {
  return { seconds: durationMs / 1000, seen };
}

function reportTimes({ startsMs, initializedMs, terminatingMs, goneMs }: NodeUnderWay | PlannedNode): TimesReport {
  return {
    startsAt: instant(startsMs),
    initializedAt: instantOrNull(initializedMs),
    permitFreeAt: instant(terminatingMs),
    endsAt: instant(goneMs),
  };
}

function reportNode(node: PlannedNode): NodeReport {
  const { order, nodeClaim, reason, reasonDetail, since, isEmpty, before, after, vcpus } = node;
  const about = { order, nodeClaim, node: node.node, reason, reasonDetail, since, isEmpty, before, after, vcpus };
  return { ...about, ...reportTimes(node) };
}

function reportWave({ number, startsMs, permitsFreeMs, endsMs, nodes }: Wave): WaveReport {
  return {
    wave: number,
    startsAt: instant(startsMs),
    permitsFreeAt: instant(permitsFreeMs),
    endsAt: instant(endsMs),
    nodes: nodes.map(reportNode),
  };
}

function reportUnderWay(row: NodeUnderWay): UnderWayReport {
  const { nodeClaim, phase, replacement } = row;
  return { nodeClaim, phase, replacement, ...reportTimes(row) };
}

function reportBlocked({ nodeClaim, reason, reasonDetail, why, remedy, untilMs }: BlockedCandidate): BlockedReport {
  return { nodeClaim, reason, reasonDetail, why, remedy, until: instantOrNull(untilMs) };
}

function reportUnplanned({ candidates, waitsFor, holders }: Unplanned, closed: string | undefined): UnplannedReport {
  return {
    nodeClaims: candidates.map(({ nodeClaim }) => nodeClaim),
    why: waitsFor === null ? (closed ?? '') : waitsForText(waitsFor),
    heldBy: holders,
  };
}

/** The plan as JSON. */
export function reportPlan(nodePool: string, plan: Plan): PlanReport {
  const { admission, durations, surge, unplanned } = plan;
  return {
    nodePool,
    at: instant(plan.atMs),
    closed: admission.closed ?? null,
    nodes: admission.nodes,
    disrupted: admission.disrupted,
    allowances: admission.allowances,
    budgetsChangeAt: instantOrNull(admission.nextChangeMs),
    durations: {
      initialize: reportDuration(durations.initialize),
      drain: reportDuration(durations.drain),
      delete: reportDuration(durations.delete),
    },
    underWay: plan.underWay.map(reportUnderWay),
    waves: plan.waves.map(reportWave),
    blocked: plan.blocked.map(reportBlocked),
    unplanned: unplanned === null ? null : reportUnplanned(unplanned, admission.closed),
    surge: { vcpus: surge.vcpus, at: instantOrNull(surge.atMs), unknown: surge.unknown },
    plannedEndsAt: instantOrNull(plan.plannedEndsMs),
    endsAt: instantOrNull(plan.endsMs),
  };
}
