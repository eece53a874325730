/** What one run of the demo measured. Times are simulated seconds since the drift, unless they say otherwise. */
export interface Report {
  readonly nodePool: string;
  /** A number, or a percentage as text. */
  readonly budget: number | string;
  readonly nodes: number;
  readonly replaced: number;
  readonly failed: number;
  /** Most VM creates in flight or replacements not yet Initialized, at one instant. */
  readonly maxInFlight: number;
  /** Most nodes disrupted at one instant: tainted, not ready or being deleted, but not yet InstanceTerminating. */
  readonly maxDisrupted: number;
  /** From a replacement's NodeClaim to its providerID and Launched: what a create that waits would stretch to the operation's end. */
  readonly createSecondsMax: number;
  /** Until the last permit was free again: the last old node's instance terminates. */
  readonly makespanSeconds: number;
  /** No schedule within the budget can be faster than the simulated durations of the permits allow. */
  readonly lowerBoundSeconds: number;
  readonly efficiency: number;
  readonly launchFailures: readonly LaunchFailureReport[];
  readonly timeline: readonly TimelinePoint[];
  readonly podMoves: {
    readonly evicted: number;
    readonly movedTwice: number;
    readonly pendingPodSeconds: number;
  };
  /** What is left that should not be, when all has ended. */
  readonly orphans: Orphans;
  readonly temporal: { readonly historyEventsPerReplacement: number; readonly actionsPerReplacement: number };
  /** Requests to the API server from the drift on, watches included, by its audit log; null where that is not ours to read. */
  readonly kubernetes: {
    readonly workerRequestsPerReplacement: number;
    readonly watcherRequestsPerReplacement: number;
  } | null;
  /** Real seconds from the drift to the end of the rollout. */
  readonly wallSeconds: number;
}

export interface LaunchFailureReport {
  readonly nodeClaim: string;
  readonly code: string;
  readonly armFailedAt: number;
  readonly markedAt: number | null;
  readonly removedAt: number | null;
}

export interface TimelinePoint {
  readonly t: number;
  readonly inFlight: number;
  readonly disrupted: number;
  readonly replaced: number;
}

export interface Orphans {
  readonly vms: number;
  readonly nics: number;
  readonly nodeClaims: number;
  readonly taints: number;
}
