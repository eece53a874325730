import type { NodeClaim } from './api.js';
import { conditionTypes, isTrue } from './conditions.js';
import { isBornDrifted } from './disruptionReason.js';
import { instanceTypeLabel, replacesAnnotation } from './labels.js';
import type { Machine, Pool } from './pool.js';
import { isDeleting } from './pool.js';
import type { NotNow } from './notNow.js';
import type { Resources } from './resources.js';
import { isWithin, parseResources, sumResources } from './resources.js';

/**
 * What a NodePool's limits leave for replacements. What is there counts until it is gone, and so does what is promised: a permit
 * reserves the old node's share from its admission, so that starts side by side never overshoot.
 */
export class LimitsLedger {
  readonly #limits: Resources;
  readonly #capacities = new Map<string, Resources>();
  readonly #machines: ReadonlyMap<string, Machine>;
  /** By the UID of what it replaces, the replacement that is there. */
  readonly #replacements: ReadonlyMap<string | undefined, Machine>;
  #used: Resources = {};

  /** @param inFlight names of the NodeClaims that a running workflow replaces */
  constructor(
    private readonly pool: Pool,
    inFlight: ReadonlySet<string>,
  ) {
    this.#limits = parseResources(pool.nodePool.spec.limits);
    this.#machines = new Map(pool.machines.map((machine) => [machine.nodeClaim.metadata.uid, machine]));
    this.#replacements = new Map(
      pool.machines
        .filter((machine) => !isDeleting(machine))
        .map((machine) => [machine.nodeClaim.metadata.annotations?.[replacesAnnotation], machine]),
    );
    // Most pools have none: a large one then need not be added up.
    if (Object.keys(this.#limits).length === 0) return;
    for (const { nodeClaim } of pool.machines) {
      const type = nodeClaim.metadata.labels?.[instanceTypeLabel];
      const capacity = nodeClaim.status?.capacity;
      if (type !== undefined && capacity !== undefined) this.#capacities.set(type, parseResources(capacity));
    }
    const promised = pool.machines.filter(
      ({ nodeClaim }) => inFlight.has(nodeClaim.metadata.name) && !this.#replacements.has(nodeClaim.metadata.uid),
    );
    this.#used = sumResources(...[...pool.machines, ...promised].map((machine) => this.#share(machine)));
  }

  /** Why there is no room for the replacement of this machine, or undefined when there is. */
  refusal(machine: Machine): NotNow | undefined {
    if (Object.keys(this.#limits).length === 0 || this.#isThere(machine)) return undefined;
    const share = this.#share(machine);
    for (const [resource, limit] of Object.entries(this.#limits)) {
      const used = this.#used[resource] ?? 0;
      const wanted = share[resource] ?? 0;
      if (isWithin(used + wanted, limit)) continue;
      const text = this.pool.nodePool.spec.limits?.[resource] ?? String(limit);
      return {
        why: `the NodePool's limits leave no room for a replacement: spec.limits.${resource} is ${text}, ${used} are used or promised, ${wanted} more are needed`,
        remedy: `raise spec.limits.${resource} of the NodePool, or wait for nodes to go`,
        untilMs: null,
      };
    }
    return undefined;
  }

  /** Promises this machine's share to its replacement. */
  reserve(machine: Machine): void {
    if (!this.#isThere(machine)) this.#used = sumResources(this.#used, this.#share(machine));
  }

  /** An earlier try came as far as a replacement that serves: it has its share already. */
  #isThere({ nodeClaim }: Machine): boolean {
    const replacement = this.#replacements.get(nodeClaim.metadata.uid);
    return replacement !== undefined && serves(replacement.nodeClaim);
  }

  /** A node that has not said what it has counts as others of its VM size, else as what it replaces. */
  #share({ nodeClaim }: Machine): Resources {
    const own = nodeClaim.status?.capacity;
    const type = nodeClaim.metadata.labels?.[instanceTypeLabel];
    const replaces = nodeClaim.metadata.annotations?.[replacesAnnotation];
    const old = replaces === undefined ? undefined : this.#machines.get(replaces);
    const capacity =
      own === undefined
        ? ((type === undefined ? undefined : this.#capacities.get(type)) ??
          parseResources(old?.nodeClaim.status?.capacity))
        : parseResources(own);
    return { ...capacity, nodes: 1 };
  }
}

function serves(replacement: NodeClaim): boolean {
  return isTrue(replacement, conditionTypes.initialized) && !isBornDrifted(replacement);
}
