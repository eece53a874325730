import { Random } from '../unit/random.js';
import type { ArmFaultKind } from './armFaults.js';
import { armFaultKinds } from './armFaults.js';
import type { KubernetesFaultKind } from './kubernetesFaults.js';
import { kubernetesFaultKinds } from './kubernetesFaults.js';
import type { MomentKind } from './moments.js';
import { momentKinds } from './moments.js';

/** The n-th time that something is seen in an audit log. */
export interface Moment {
  readonly kind: MomentKind;
  readonly count: number;
}

export interface Kill {
  /** `worker-1`, `worker-2` or `watcher`. */
  readonly service: string;
  readonly at: Moment;
  readonly downMs: number;
}

/** One kind of fault: how many matching requests pass before it, and how many it hits. */
export interface PlannedFault<Kind extends string> {
  readonly kind: Kind;
  readonly after: number;
  readonly count: number;
}

/** All that happens in one run, drawn from its seed. */
export interface Plan {
  readonly seed: number;
  readonly nodes: number;
  /** As a NodePool says it: a number or a percentage. */
  readonly budget: string;
  /** Of the workload's PodDisruptionBudget. */
  readonly maxUnavailable: number;
  readonly workers: number;
  readonly kills: readonly Kill[];
  readonly temporalRestart: { readonly at: Moment; readonly downMs: number } | undefined;
  readonly arm: readonly PlannedFault<ArmFaultKind>[];
  readonly kubernetes: readonly PlannedFault<KubernetesFaultKind>[];
}

/** Where two seeds differ by one, the generator's numbers hardly do: MurmurHash3's last step tells them apart. */
function spread(seed: number): number {
  const half = Math.imul(seed ^ (seed >>> 16), 0x85ebca6b);
  const whole = Math.imul(half ^ (half >>> 13), 0xc2b2ae35);
  return whole ^ (whole >>> 16);
}

const longestDownMs = 2_000;

class Draw {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = new Random(spread(seed));
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + this.#random.below(most - least + 1);
  }

  /** True in one of so many draws. */
  oneIn(draws: number): boolean {
    return this.#random.below(draws) === 0;
  }

  some<T>(all: readonly T[], count: number): T[] {
    const left = [...all];
    return Array.from({ length: count }, () => left.splice(this.#random.below(left.length), 1)).flat();
  }
}

/** The same seed draws the same plan. */
export function drawPlan(seed: number): Plan {
  const draw = new Draw(seed);
  const nodes = draw.oneIn(8) ? draw.between(41, 100) : draw.between(20, 40);
  const percent = draw.between(20, 50);
  const budget = draw.oneIn(2) ? `${percent}%` : String(Math.ceil((nodes * percent) / 100));
  const maxUnavailable = draw.between(2, Math.max(2, Math.ceil((nodes * percent) / 100)));
  const workers = draw.between(1, 2);
  const services = ['watcher', 'worker-1', 'worker-1', ...(workers === 2 ? ['worker-2', 'worker-2'] : [])];
  const moment = (): Moment => {
    const [kind = 'vmAsked'] = draw.some(momentKinds, 1);
    return { kind, count: draw.between(1, nodes) };
  };
  const kills = Array.from({ length: draw.between(1, 4) }, (): Kill => {
    const [service = 'worker-1'] = draw.some(services, 1);
    return { service, at: moment(), downMs: draw.between(0, longestDownMs) };
  });
  const temporalRestart = draw.oneIn(2) ? { at: moment(), downMs: draw.between(0, longestDownMs) } : undefined;
  const faults = <Kind extends string>(kinds: readonly Kind[], count: number): PlannedFault<Kind>[] =>
    draw.some(kinds, count).map((kind) => ({ kind, after: draw.between(0, nodes), count: draw.between(1, 4) }));
  return {
    seed,
    nodes,
    budget,
    maxUnavailable,
    workers,
    kills,
    temporalRestart,
    arm: faults(armFaultKinds, draw.between(2, 4)),
    kubernetes: faults(kubernetesFaultKinds, draw.between(1, 4)),
  };
}
