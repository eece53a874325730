/** How long things may take, in milliseconds. The worker's configuration sets them; workflows get them as data. */
export interface ReplacementSettings {
  /** For Azure to accept the VM's PUT, and then once more to the end of its operation. */
  readonly launchTimeoutMs: number;
  /** From the VM's PUT to Registered. */
  readonly registrationTtlMs: number;
  /** From the VM's PUT to Initialized. */
  readonly initializeTimeoutMs: number;
  /** For the whole drain of a node without a terminationGracePeriod. */
  readonly drainTimeoutMs: number;
  /** Within that: from the end of the last pod to the detachment of the last disk. */
  readonly detachTimeoutMs: number;
  /** From the VM's DELETE to the end of its operation. */
  readonly deleteTimeoutMs: number;
  /** For one attempt of an activity: short, so that a lost worker costs little. */
  readonly attemptTimeoutMs: number;
  /** How long to wait between two looks at Kubernetes. */
  readonly waitIntervalMs: number;
  /** How long to wait between two reads of an operation where Azure does not say. */
  readonly pollIntervalMs: number;
}

/** How a rollout paces itself, in milliseconds. */
export interface RolloutSettings {
  /** A pool that asked for nothing for so long ends its rollout. */
  readonly quietMs: number;
  /** How often replacements are looked up whose end the rollout would not be told: by another run, or under the cap of all pools. */
  readonly childCheckMs: number;
  /** Candidates that wait for something that nobody would poke about are looked at again after so long. */
  readonly lookAgainMs: number;
  /** First pause of a pool after a failed replacement; doubles up to the maximum. */
  readonly backoffMs: number;
  readonly backoffMaxMs: number;
  /** So many failures in a row halt the rollout. */
  readonly haltAfterFailures: number;
}
