import type { NodeClaim, NodePool } from './api.js';
import { conditionTypes, getCondition, isTrue } from './conditions.js';
import { parseGoDurationMs } from './goDuration.js';
import { disruptionConditionsAnnotation, replaceAnnotation } from './labels.js';

/** The reason of a replacement that a person asked for. No budget of Karpenter names it: those for all reasons bound it. */
export const manualReason = 'Manual';
/** The reason of a node that reaches its expireAfter. */
export const expiredReason = 'Expired';
/** The reason of a node whose repair somebody asks for. */
export const unhealthyReason = 'Unhealthy';
/** Reasons for which Karpenter waits for the pods in any case, whatever the terminationGracePeriod (GracefulDisruptionClass). */
const gracefulReasons: readonly string[] = ['Underutilized', 'Empty'];

/** Conditions of a NodeClaim that ask for its replacement, in Karpenter's words, the more urgent first. */
const disruptionConditions: readonly string[] = ['Drifted', unhealthyReason, expiredReason, ...gracefulReasons];

/** What a person said is shown in lists and kept in histories: an annotation could hold a whole book. */
const longestDetail = 500;

/** An expiring node is replaced ahead of its time, but not by more than this share of its life: else it would be so from birth. */
const mostOfLife = 0.1;

/** When a node counts as expiring. */
export interface ExpiryRule {
  /** So long before its expireAfter a node is replaced gracefully, in milliseconds. */
  readonly expiryLeadMs: number;
}

/** Why a node is to be replaced. */
export interface Disruption {
  /** Karpenter's disruption reason: what budgets are asked for. */
  readonly reason: string;
  /** The condition's own reason, e.g. `ImageDrift`, or what a person said. */
  readonly detail: string;
  /** Since when, ISO 8601; empty where nothing tells. */
  readonly since: string;
}

/** The condition types that ask for a replacement in this pool: Karpenter's, and those that its owner has named. */
function conditionsOf({ metadata }: NodePool): readonly string[] {
  const named = metadata.annotations?.[disruptionConditionsAnnotation] ?? '';
  const more = named.split(',').map((type) => type.trim());
  return [...disruptionConditions, ...more.filter((type) => type !== '')];
}

/**
 * The instant from which a NodeClaim is replaced for its age, epoch milliseconds: ahead of Karpenter's forceful expiry, which obeys
 * no budget. Undefined when it never expires.
 */
export function expiryDueMs({ metadata, spec }: NodeClaim, { expiryLeadMs }: ExpiryRule): number | undefined {
  const { expireAfter } = spec;
  if (expireAfter === undefined || expireAfter === 'Never' || metadata.creationTimestamp === undefined)
    return undefined;
  const lifeMs = parseGoDurationMs(expireAfter);
  if (lifeMs === undefined) return undefined;
  return Date.parse(metadata.creationTimestamp) + lifeMs - Math.min(expiryLeadMs, lifeMs * mostOfLife);
}

function manualDisruption({ metadata }: NodeClaim): Disruption | undefined {
  const text = metadata.annotations?.[replaceAnnotation];
  if (text === undefined || text === 'false') return undefined;
  const words = text.replaceAll(/\s+/g, ' ').trim().slice(0, longestDetail);
  return { reason: manualReason, detail: words === '' || words === 'true' ? 'ByHand' : words, since: '' };
}

function conditionDisruption(nodePool: NodePool, nodeClaim: NodeClaim): Disruption | undefined {
  for (const type of conditionsOf(nodePool)) {
    const condition = getCondition(nodeClaim, type);
    if (condition?.status !== 'True') continue;
    return { reason: type, detail: condition.reason ?? type, since: condition.lastTransitionTime ?? '' };
  }
  return undefined;
}

function expiry(nodeClaim: NodeClaim, rule: ExpiryRule, atMs: number): Disruption | undefined {
  const dueMs = expiryDueMs(nodeClaim, rule);
  if (dueMs === undefined || atMs < dueMs) return undefined;
  const detail = `expireAfter ${nodeClaim.spec.expireAfter ?? ''}`;
  return { reason: expiredReason, detail, since: new Date(dueMs).toISOString() };
}

/** Why this NodeClaim is to be replaced, or undefined when nothing asks for it: by hand, a condition, its age, in that order. */
export function disruptionOf(
  nodePool: NodePool,
  nodeClaim: NodeClaim,
  rule: ExpiryRule,
  atMs: number,
): Disruption | undefined {
  return manualDisruption(nodeClaim) ?? conditionDisruption(nodePool, nodeClaim) ?? expiry(nodeClaim, rule, atMs);
}

/** Pods that stand against the disruption stop it only until the node's terminationGracePeriod, where it has one. */
export function isEventual({ reason }: Disruption): boolean {
  return !gracefulReasons.includes(reason);
}

/** The replacement itself has drifted already: to put pods on it would only move them again. */
export function isBornDrifted(replacement: NodeClaim): boolean {
  return isTrue(replacement, conditionTypes.drifted);
}
