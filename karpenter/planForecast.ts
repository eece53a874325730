import { isEmpty } from './candidate.js';
import { conditionTypes, getCondition, isTrue } from './conditions.js';
import { initializedLabel, replacesAnnotation } from './labels.js';
import type { PlanDurations } from './planDurations.js';
import type { Machine, Pool } from './pool.js';
import { isStatic } from './pool.js';
import type { UnderReplacement } from './underReplacement.js';
import { findUnderReplacement } from './underReplacement.js';

/** When the steps of one replacement are expected, epoch milliseconds. */
export interface ReplacementTimes {
  readonly startsMs: number;
  /** Null: nothing takes the node's place, or it has done so already. */
  readonly initializedMs: number | null;
  /** The old instance begins to terminate: its permit is free. */
  readonly terminatingMs: number;
  /** The old instance is gone. */
  readonly goneMs: number;
}

/** A step of a replacement by which the pool changes. */
export type ForecastStep = 'initialized' | 'terminating' | 'gone';

interface Change {
  readonly step: ForecastStep;
  readonly atMs: number;
  readonly apply: () => void;
}

/** When something under way ends is guessed no finer than this: what began within seconds is expected to end together. */
const grainMs = 10_000;
/** What is expected of a deletion that has been asked for and has not yet begun. */
const beginDeletionMs = 5_000;

/** A pool that is moved forward in time, by the durations of a plan: nothing outside changes. */
export class PoolForecast {
  readonly #machines: Map<string, Machine>;
  readonly #inFlight = new Set<string>();
  #changes: Change[] = [];
  /** Replacements that were under way from the beginning. */
  readonly underWay: readonly (UnderReplacement & ReplacementTimes)[];

  /** @param atMs the instant of the pool, epoch milliseconds */
  constructor(
    private readonly seen: Pool,
    private readonly durations: PlanDurations,
    atMs: number,
  ) {
    this.#machines = new Map(seen.machines.map((machine) => [machine.nodeClaim.metadata.name, machine]));
    this.underWay = findUnderReplacement(seen).map((row) => {
      const times = this.#timesUnderWay(row, atMs);
      this.#schedule(row.machine, row.replacementMachine, times);
      return { ...row, ...times };
    });
  }

  /** The pool as it is expected to be now. */
  get pool(): Pool {
    return { ...this.seen, machines: [...this.#machines.values()] };
  }

  /** Names of the NodeClaims that are being replaced now. */
  get inFlight(): ReadonlySet<string> {
    return this.#inFlight;
  }

  /** When one of these steps is next, epoch milliseconds; null: none is to come. */
  nextStepMs(steps: ReadonlySet<ForecastStep>): number | null {
    return this.#changes.find(({ step }) => steps.has(step))?.atMs ?? null;
  }

  /** Begins the replacement of a machine of the pool. */
  begin(machine: Machine, startsMs: number): ReplacementTimes {
    const times = this.#timesFrom(machine, startsMs);
    this.#schedule(machine, undefined, times);
    return times;
  }

  /** Lets everything happen that is expected until then, that instant included. */
  advanceTo(atMs: number): void {
    const due = this.#changes.findIndex((change) => change.atMs > atMs);
    const happened = due === -1 ? this.#changes.splice(0) : this.#changes.splice(0, due);
    for (const { apply } of happened) apply();
  }

  #timesFrom(machine: Machine, startsMs: number): ReplacementTimes {
    const leavesGap = isEmpty(machine) && !isStatic(this.seen.nodePool);
    const initializedMs = leavesGap ? null : startsMs + this.durations.initialize.durationMs;
    const drainedMs = (initializedMs ?? startsMs) + this.durations.drain.durationMs;
    return { startsMs, initializedMs, ...this.#endOf(drainedMs) };
  }

  #endOf(terminatingMs: number): Pick<ReplacementTimes, 'terminatingMs' | 'goneMs'> {
    return { terminatingMs, goneMs: terminatingMs + this.durations.delete.durationMs };
  }

  #schedule(machine: Machine, replacement: Machine | undefined, times: ReplacementTimes): void {
    const { name } = machine.nodeClaim.metadata;
    this.#inFlight.add(name);
    const changes: Change[] = [
      {
        step: 'terminating',
        atMs: times.terminatingMs,
        apply: () => this.#machines.set(name, terminating(machine, times.terminatingMs)),
      },
      {
        step: 'gone',
        atMs: times.goneMs,
        apply: () => {
          this.#machines.delete(name);
          this.#inFlight.delete(name);
        },
      },
    ];
    if (times.initializedMs !== null) {
      const initialized = initializedReplacement(machine, replacement, times.initializedMs);
      changes.push({
        step: 'initialized',
        atMs: times.initializedMs,
        apply: () => this.#machines.set(initialized.nodeClaim.metadata.name, initialized),
      });
    }
    this.#changes.push(...changes);
    this.#changes.sort((a, b) => a.atMs - b.atMs);
  }

  /** A step that has taken longer than usual by now is given the usual time once more. */
  #timesUnderWay({ phase, machine, replacementMachine }: UnderReplacement, atMs: number): ReplacementTimes {
    const { initialize, drain, delete: deletion } = this.durations;
    const due = (sinceAt: string | undefined, durationMs: number): number => {
      const leftMs = Date.parse(sinceAt ?? '') + durationMs - atMs;
      return atMs + (leftMs > 0 ? Math.ceil(leftMs / grainMs) * grainMs : durationMs);
    };
    const beganAt = sinceOf(machine, conditionTypes.disruptionReason);
    const startsMs = beganAt === undefined ? atMs : Date.parse(beganAt);
    switch (phase) {
      case 'Reserve':
        return { ...this.#timesFrom(machine, atMs), startsMs };
      case 'Launch':
      case 'Initialize': {
        const initializedMs = due(replacementMachine?.nodeClaim.metadata.creationTimestamp, initialize.durationMs);
        return { startsMs, initializedMs, ...this.#endOf(initializedMs + drain.durationMs) };
      }
      case 'Drain': {
        const initializedAt =
          replacementMachine === undefined ? undefined : sinceOf(replacementMachine, conditionTypes.initialized);
        return { startsMs, initializedMs: null, ...this.#endOf(due(initializedAt, drain.durationMs)) };
      }
      case 'Delete': {
        const terminatedAt = sinceOf(machine, conditionTypes.instanceTerminating);
        if (terminatedAt === undefined) {
          return { startsMs, initializedMs: null, ...this.#endOf(atMs + beginDeletionMs) };
        }
        const goneMs = due(terminatedAt, deletion.durationMs);
        return { startsMs, initializedMs: null, terminatingMs: Date.parse(terminatedAt), goneMs };
      }
    }
  }
}

function sinceOf({ nodeClaim }: Machine, type: string): string | undefined {
  return isTrue(nodeClaim, type) ? getCondition(nodeClaim, type)?.lastTransitionTime : undefined;
}

function terminating(machine: Machine, atMs: number): Machine {
  const { nodeClaim } = machine;
  const condition = {
    type: conditionTypes.instanceTerminating,
    status: 'True',
    lastTransitionTime: new Date(atMs).toISOString(),
  } as const;
  const conditions = [...(nodeClaim.status?.conditions ?? []), condition];
  return { ...machine, nodeClaim: { ...nodeClaim, status: { ...nodeClaim.status, conditions } } };
}

/** Its replacement as it is expected to be: of the same VM size, at work, and young enough that nobody asks for it. */
function initializedReplacement(old: Machine, replacement: Machine | undefined, atMs: number): Machine {
  const { metadata, spec, status } = replacement?.nodeClaim ?? old.nodeClaim;
  const name = replacement?.nodeClaim.metadata.name ?? `replacement of ${old.nodeClaim.metadata.name}`;
  const { capacity, allocatable } = status ?? {};
  return {
    nodeClaim: {
      metadata: {
        name,
        uid: name,
        creationTimestamp: new Date(atMs).toISOString(),
        labels: metadata.labels,
        annotations: { [replacesAnnotation]: old.nodeClaim.metadata.uid },
      },
      spec: { ...spec, expireAfter: 'Never' },
      status: { nodeName: name, capacity, allocatable },
    },
    node: {
      metadata: { name, uid: name, labels: { ...old.node?.metadata.labels, [initializedLabel]: 'true' } },
      status: { conditions: [{ type: conditionTypes.ready, status: 'True' }] },
    },
    pods: [],
  };
}
