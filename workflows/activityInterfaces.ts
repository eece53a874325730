import type { AdmissionReport } from '../karpenter/admissionReport.js';
import type { ResourceList } from '../karpenter/api.js';
import type { Offering } from '../karpenter/offering.js';
import type {
  Deletion,
  Launch,
  Removal,
  ReplacementRef,
  ReplacementResult,
  Reservation,
  LaunchName,
} from './replacementTypes.js';
import type { SweepInput, SweepReport } from './sweepTypes.js';
import type { DrainFailureDetails } from './failures.js';
import type { ReplacementSettings, RolloutSettings } from './settings.js';

/** Temporal's word on a child that the parent cannot await. */
export interface ChildReport {
  readonly nodeClaim: string;
  readonly uid: string;
  readonly status: 'running' | 'completed' | 'failed' | 'canceled' | 'terminated' | 'notFound';
  /** Of a running one: why it gets no further, where its workflow is what fails. */
  readonly stuck?: string;
  /** Of a completed one. */
  readonly result?: ReplacementResult;
  /** Of a failed one. */
  readonly code?: string;
  readonly message?: string;
}

/** A NodeClaim whose replacement is under way. */
export interface InFlight {
  readonly nodeClaim: string;
  readonly uid: string;
}

/** A pool, and what its rollout knows of the candidates that the cluster does not show. */
export interface LineState {
  readonly cluster: string;
  readonly nodePool: string;
  /** Names of the NodeClaims whose replacement is under way. */
  readonly inFlight: readonly string[];
  /** UIDs that go first, go last, or wait for a person. */
  readonly first: readonly string[];
  readonly last: readonly string[];
  readonly held: readonly string[];
}

export interface ObservePoolInput extends LineState {
  /** Children to describe by workflow id. */
  readonly describe: readonly InFlight[];
  /** A parent started anew does not know its children: look for one under every name that could have one. */
  readonly discover: boolean;
}

export interface PoolObservation {
  readonly admission: AdmissionReport;
  /** Of the UIDs that the rollout named, those that need no replacement any more. */
  readonly settled: readonly string[];
  /** Of the UIDs that the rollout named, those whose NodeClaim is there no more. */
  readonly gone: readonly string[];
  readonly children: readonly ChildReport[];
  readonly settings: { readonly rollout: RolloutSettings; readonly replacement: ReplacementSettings };
}

export interface NodeClaimRef {
  readonly cluster: string;
  readonly nodePool: string;
  readonly nodeClaim: string;
}

/** The activities of the parent. */
export interface RolloutActivities {
  /** Reads the live pool and decides who may start; describes children. A deleted NodePool is an empty one. */
  observePool(input: ObservePoolInput): Promise<PoolObservation>;
  /** Puts the soft taint on the nodes that wait, and takes it off the others. */
  markWaiting(input: LineState): Promise<void>;
  /** Finds a NodeClaim that a person names. Fails with UnknownNodeClaim when the pool has none of that name. */
  findNodeClaim(ref: NodeClaimRef): Promise<InFlight>;
}

/** The activities of a replacement that do not begin anything at ARM, but for a failed delete that is begun again. Waiting is by retries: see activities/waiting.ts. */
export interface ReplacementActivities {
  /** Is it still to be replaced? Then fixes the shape, taints the node and looks again. */
  reserve(ref: ReplacementRef): Promise<Reservation>;
  /** Follows the create operation to its end, then the VM until its Node has registered. A failure is marked on the NodeClaim and fails this activity for good. */
  pollLaunch(ref: ReplacementRef, launch: Launch): Promise<void>;
  /** Registers the Node and waits until it is Initialized. */
  initialize(ref: ReplacementRef, launch: Launch, registrationTtlMs: number): Promise<void>;
  /**
   * Opens the replacement for pods, evicts the old node's and waits until they are gone and their disks detached. Its failures carry
   * DrainFailureDetails. Without a launch the node is empty but for daemon pods: NotNeeded when another pod has come.
   * @param paused how the drain before it has ended, when the kill switch has stopped it: then it begins anew with all of its time
   */
  drain(ref: ReplacementRef, launch: Launch | null, paused: DrainFailureDetails | null): Promise<void>;
  /** Follows a delete operation to its end, then removes Node and NodeClaim. */
  followDeletion(ref: ReplacementRef, deletion: Deletion): Promise<void>;
  /** Ends when the kill switch is off: waits by retries, without a deadline. */
  waitUntilResumed(ref: ReplacementRef): Promise<void>;
  /** Takes our taint and condition off the old node. */
  release(ref: ReplacementRef): Promise<void>;
}

/** The activity of a sweep. */
export interface SweepActivities {
  /** Looks for what no running workflow owns: takes taints off, reports the rest, deletes it where that is switched on. */
  sweep(input: SweepInput): Promise<SweepReport>;
}

/** The activities that write to ARM. */
export interface ArmWriteActivities {
  /** Creates the NodeClaim and begins the VM's PUT; returns without waiting for it. */
  createReplacement(ref: ReplacementRef, request: CreateRequest): Promise<Launch>;
  /** Deletes the old NodeClaim, begins its VM's DELETE and writes InstanceTerminating: from then on the permit is free. */
  beginDeletion(ref: ReplacementRef, launch: Launch | null): Promise<Deletion>;
  /** Begins the removal of a replacement, unless it is needed by now: an eviction has begun, or a workload has moved onto it. */
  beginRemoval(ref: ReplacementRef, launch: LaunchName, evictionBegan: boolean): Promise<Removal>;
}

export interface CreateRequest {
  readonly round: number;
  readonly attempt: number;
  readonly offering: Offering;
  /** What the pods ask for that it is to run; absent: what the old NodeClaim asked for. */
  readonly requests?: ResourceList;
  readonly imageId: string;
}
