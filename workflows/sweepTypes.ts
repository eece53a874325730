/** The input of one sweep. */
export interface SweepInput {
  readonly cluster: string;
}

/** Something that no running workflow owns, and what was done about it. */
export interface SweepFinding {
  readonly kind:
    'taint' | 'reservation' | 'condition' | 'waitingTaint' | 'nodeClaim' | 'deletion' | 'virtualMachine' | 'rollout';
  readonly name: string;
  readonly why: string;
  /** `removed`; `reset`; `deleting`: the next sweep looks for its end; `reported`: deletion is not switched on; or why it stays. */
  readonly action: string;
}

export interface SweepReport {
  readonly findings: readonly SweepFinding[];
  /** More was found than one sweep deals with. */
  readonly left: number;
}
