import type { ResourceList } from '../karpenter/api.js';
import type { Offering } from '../karpenter/offering.js';
import type { ReplacementSettings } from './settings.js';

/** The input of one replaceNode workflow. */
export interface ReplaceNodeInput {
  readonly cluster: string;
  readonly nodePool: string;
  readonly nodeClaim: string;
  readonly uid: string;
  readonly node: string;
  readonly reason: string;
  readonly reasonDetail: string;
  /** How often this NodeClaim's replacement was begun before: part of the names of what is created. */
  readonly round: number;
  readonly settings: ReplacementSettings;
}

/** Which node an activity is about. Everything that destroys re-reads ownership and never trusts these names alone. */
export interface ReplacementRef {
  readonly cluster: string;
  readonly nodePool: string;
  readonly nodeClaim: string;
  readonly uid: string;
  readonly node: string;
  readonly reason: string;
  /** How often this NodeClaim's replacement was begun before. */
  readonly round: number;
  readonly workflowId: string;
}

/** What reserve fixed before the first write, or why there is nothing to do. */
export type Reservation = Reserved | EmptyNode | { readonly kind: 'notNeeded'; readonly why: string };

/** No pod has to move: nothing is launched, the node just goes. */
export interface EmptyNode {
  readonly kind: 'empty';
  /** The old NodeClaim's, if it has one: then this bounds the drain. */
  readonly terminationGracePeriodMs?: number | undefined;
  /** What earlier rounds left behind: to be removed. */
  readonly earlier: readonly LaunchName[];
}

export interface Reserved {
  readonly kind: 'reserved';
  readonly offerings: readonly Offering[];
  /** What the pods ask for that the replacement is to run. */
  readonly requests?: ResourceList;
  /** What the offerings were chosen for, in words: for people when there are none. */
  readonly wanted?: string;
  readonly imageId: string;
  /** The old NodeClaim's, if it has one: then this bounds the drain. */
  readonly terminationGracePeriodMs?: number | undefined;
  /** What earlier rounds left behind: to be removed. */
  readonly earlier?: readonly LaunchName[];
  /** A replacement of an earlier round that is Initialized: nothing has to be launched. */
  readonly adopted?: Adopted;
}

export interface Adopted {
  readonly name: LaunchName;
  readonly launch: Launch;
}

/** Names a replacement whose launch may or may not have come to pass. */
export interface LaunchName {
  readonly round: number;
  readonly attempt: number;
}

/** A NodeClaim that was created and a VM whose PUT was accepted. */
export interface Launch {
  readonly nodeClaim: string;
  readonly uid: string;
  readonly virtualMachine: string;
  readonly providerId: string;
  readonly offering: Offering;
  /** The operation to follow; null when there is none, or an earlier attempt's VM was adopted: then the VM itself is looked at. */
  readonly resumeToken: string | null;
  /** When Azure wants it to be read for the first time, in milliseconds from its beginning on. */
  readonly retryAfterMs?: number | undefined;
}

/** A resource of Azure's that was made with a VM and may outlive it. */
export interface MachinePart {
  readonly kind: 'networkInterface' | 'disk';
  readonly name: string;
}

/** A VM whose DELETE was accepted. */
export interface Deletion {
  readonly nodeClaim: string;
  readonly uid: string;
  readonly virtualMachine: string;
  /** What has to go with it; absent: what has its name. */
  readonly parts?: readonly MachinePart[];
  /** null when the VM was gone already, or there is no operation to follow. */
  readonly resumeToken: string | null;
  /** When Azure wants it to be read for the first time, in milliseconds from its beginning on. */
  readonly retryAfterMs?: number | undefined;
}

/** How the removal of a replacement began, or why it stays, or that there was nothing to remove. */
export type Removal =
  | { readonly kind: 'deleting'; readonly deletion: Deletion }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'kept'; readonly why: string };

/** An attempt to launch that did not come to an Initialized node. */
export interface LaunchFailure {
  readonly nodeClaim: string;
  /** Azure's code, or one of ours where Azure gave none, e.g. RegistrationTimeout, LaunchTimeout, VirtualMachineNotFound. */
  readonly code: string;
  readonly message: string;
}

/** How a replaceNode workflow ended when it did not fail. */
export type ReplacementResult =
  | {
      readonly kind: 'replaced';
      readonly nodeClaim: string;
      /** null: the node was empty, nothing took its place. */
      readonly replacement: string | null;
      readonly reason: string;
      readonly reasonDetail: string;
      readonly offering: Offering | null;
      readonly launchFailures: readonly LaunchFailure[];
    }
  | { readonly kind: 'notNeeded'; readonly nodeClaim: string; readonly why: string };
