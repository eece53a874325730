/** A grant whose taint has not shown in the caches after so long was not taken up: its rollout was paused, or is gone. */
const untaintedMs = 60_000;

interface PoolGrants {
  readonly nodeClaims: ReadonlySet<string>;
  readonly atMs: number;
}

/**
 * Whom this worker's looks have let start, by NodePool: their taints do not show in the caches at once. With it the cluster-wide cap
 * holds exactly as long as one worker gives all permits.
 */
export class Grants {
  readonly #byPool = new Map<string, PoolGrants>();

  /** @param nodeClaims names of all that the pool's last look knew in flight or let start */
  record(nodePool: string, nodeClaims: readonly string[], atMs: number): void {
    this.#byPool.set(nodePool, { nodeClaims: new Set(nodeClaims), atMs });
  }

  /** NodeClaims of other pools that have, or will soon have, the taint of a disruption. */
  elsewhere(nodePool: string, atMs: number): readonly string[] {
    return [...this.#byPool]
      .filter(([name, grants]) => name !== nodePool && atMs - grants.atMs < untaintedMs)
      .flatMap(([, { nodeClaims }]) => [...nodeClaims]);
  }
}
