import { conditionTypes, getCondition } from './conditions.js';
import type { Disruption } from './disruptionReason.js';
import { isEventual, manualReason } from './disruptionReason.js';
import { isDrainable } from './drain.js';
import { disruptedTaint, doNotDisruptAnnotation, replacesAnnotation, workflowAnnotation } from './labels.js';
import type { Machine, Pool } from './pool.js';
import { isDeleting, isInitialized, isRebooting, isStatic, isTainted } from './pool.js';
import { evictionRefusedWhy } from './podDisruptionBudgets.js';
import { isTerminal, isTerminating, podName, protectionOf } from './pods.js';
import { disruption as disruptionTaint } from './replacement.js';

/** How long what has just begun is left alone, in milliseconds. */
export interface NotNowRules {
  /** Pods are still on their way to a node that was Initialized less than so long ago. */
  readonly justStartedMs: number;
  /** A replacement of ours that is to be replaced within so long of its creation is left until then: drift that flaps is slowed. */
  readonly flapMs: number;
}

/** Why a candidate cannot be replaced now. */
export interface NotNow {
  /** In words for people. */
  readonly why: string;
  /** What would change it, in words for people. */
  readonly remedy: string;
  /** When it ends by itself, epoch milliseconds; null: not by the passing of time. */
  readonly untilMs: number | null;
}

function notNow(why: string, remedy: string, untilMs: number | null = null): NotNow {
  return { why, remedy, untilMs };
}

function minutes(ms: number): string {
  return `${Math.max(1, Math.round(ms / 60_000))} min`;
}

/**
 * Why this candidate cannot be replaced now, or undefined when it can: Karpenter's rules (pkg/controllers/state/statenode.go,
 * ValidateNodeDisruptable and ValidatePodsDisruptable), and ours for what is too young.
 * @param atMs the instant, epoch milliseconds
 */
export function notNowWhy(
  pool: Pool,
  machine: Machine,
  disruption: Disruption,
  rules: NotNowRules,
  atMs: number,
): NotNow | undefined {
  return (
    nodeNotNow(machine) ??
    surplusNotNow(pool) ??
    nominationNotNow(pool, machine) ??
    (disruption.reason === manualReason ? undefined : youthNotNow(machine, disruption, rules, atMs)) ??
    // Karpenter's exception: the node goes at its deadline anyway, whoever stands against it.
    (isEventual(disruption) && machine.nodeClaim.spec.terminationGracePeriod !== undefined
      ? undefined
      : podsNotNow(pool, machine, atMs))
  );
}

function nodeNotNow(machine: Machine): NotNow | undefined {
  if (isDeleting(machine)) return notNow('it is being deleted already', 'its deletion has to end');
  if (machine.node === undefined) return notNow('it has no Node yet', 'its Node has to register');
  if (isRebooting(machine)) return notNow('it is rebooting', 'its reboot has to end');
  if (!isInitialized(machine)) return notNow('its Node is not initialized yet', 'its Node has to become Ready');
  if (isTainted(machine) && machine.node.metadata.annotations?.[workflowAnnotation] === undefined) {
    return notNow(
      'its Node is being disrupted by somebody else',
      `who put the taint ${disruptedTaint} on it has to finish`,
    );
  }
  // Exactly `true`: Karpenter ignores any other value on a node.
  if (machine.node.metadata.annotations?.[doNotDisruptAnnotation] === 'true') {
    return notNow(`its Node is annotated ${doNotDisruptAnnotation}`, 'take the annotation off the Node');
  }
  return undefined;
}

/**
 * A static pool that has too many nodes is scaled down first: whoever does that must not meet a surge of ours. A replacement is no
 * surplus as long as what it replaces is there.
 */
function surplusNotNow({ nodePool, machines }: Pool): NotNow | undefined {
  if (!isStatic(nodePool)) return undefined;
  const { replicas = 0 } = nodePool.spec;
  const live = machines.filter((machine) => !isDeleting(machine));
  const uids = new Set(live.map(({ nodeClaim }) => nodeClaim.metadata.uid));
  const own = live.filter(({ nodeClaim }) => !uids.has(nodeClaim.metadata.annotations?.[replacesAnnotation] ?? ''));
  if (own.length <= replicas) return undefined;
  return notNow(
    `its static NodePool has ${own.length} NodeClaims and replicas ${replicas}: it is scaled down first`,
    'the NodePool has to come down to its replicas',
  );
}

function nominationNotNow({ pendingPods }: Pool, { node }: Machine): NotNow | undefined {
  const pod = pendingPods.find(
    (other) => other.status?.nominatedNodeName === node?.metadata.name && !isTerminal(other) && !isTerminating(other),
  );
  if (pod === undefined) return undefined;
  return notNow(`pod ${podName(pod)} is nominated to its Node`, 'the pod has to be bound');
}

function youthNotNow(
  { nodeClaim }: Machine,
  disruption: Disruption,
  { justStartedMs, flapMs }: NotNowRules,
  atMs: number,
): NotNow | undefined {
  const initializedAt = getCondition(nodeClaim, conditionTypes.initialized)?.lastTransitionTime;
  const settledMs = initializedAt === undefined ? 0 : Date.parse(initializedAt) + justStartedMs;
  if (atMs < settledMs) {
    return notNow('its Node has just started', 'pods that are on their way have to arrive', settledMs);
  }
  const { creationTimestamp, annotations } = nodeClaim.metadata;
  if (annotations?.[replacesAnnotation] === undefined || creationTimestamp === undefined) return undefined;
  const createdMs = Date.parse(creationTimestamp);
  if (atMs >= createdMs + flapMs) return undefined;
  const ageMs = Date.parse(disruption.since === '' ? creationTimestamp : disruption.since) - createdMs;
  return notNow(
    `it is a replacement itself and was ${disruption.reason} (${disruption.detail}) ${minutes(ageMs)} after its creation: this may be a loop`,
    `look at what marks it ${disruption.reason}`,
    createdMs + flapMs,
  );
}

function podsNotNow({ podDisruptionBudgets }: Pool, { pods }: Machine, atMs: number): NotNow | undefined {
  for (const pod of pods) {
    const protection = protectionOf(pod);
    if (protection.kind === 'always') {
      return notNow(`pod ${podName(pod)} is annotated ${doNotDisruptAnnotation}`, 'the pod has to end or lose it');
    }
    if (protection.kind === 'until' && atMs < protection.untilMs) {
      const until = new Date(protection.untilMs).toISOString();
      return notNow(
        `pod ${podName(pod)} is annotated ${doNotDisruptAnnotation} until ${until}`,
        'the time has to pass, or the pod to end or lose it',
        protection.untilMs,
      );
    }
  }
  for (const pod of pods) {
    const isAsked = isDrainable(pod, disruptionTaint) && !isTerminating(pod);
    const refusal = isAsked ? evictionRefusedWhy(pod, podDisruptionBudgets) : undefined;
    if (refusal !== undefined) return notNow(`pod ${podName(pod)}: ${refusal}`, 'the budget has to allow an eviction');
  }
  return undefined;
}
