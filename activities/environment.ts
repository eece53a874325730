import { ApplicationFailure } from '@temporalio/common';

import type { Node, NodeClaim, Pod, PodDisruptionBudget } from '../karpenter/api.js';
import type { CandidateRules } from '../karpenter/candidate.js';
import { failureTypes } from '../workflows/failures.js';
import type { ReplacementSettings, RolloutSettings } from '../workflows/settings.js';
import type { ResourceSkus } from './azure/resourceSkus.js';
import type { VirtualMachines } from './azure/virtualMachines.js';
import type { KillSwitch } from './killSwitch.js';
import type { Informer } from './kubernetes/informer.js';
import type { KubernetesApi } from './kubernetes/kubernetesApi.js';

/** What the activities of one cluster work with. */
export interface ActivityEnvironment {
  /** The UID of the kube-system namespace. */
  readonly clusterId: string;
  /** The id of the Temporal namespace: our mark on everything that we make or change. */
  readonly owner: string;
  readonly kubernetes: KubernetesApi;
  /** Caches: for waits, and for choices that are checked live before anything is done. */
  readonly nodeClaims: Informer<NodeClaim>;
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  readonly podDisruptionBudgets: Informer<PodDisruptionBudget>;
  readonly killSwitch: KillSwitch;
  /** The VM sizes on offer. */
  readonly resourceSkus: Pick<ResourceSkus, 'list'>;
  /** The VMs that Nodes run on. */
  readonly virtualMachines: Pick<VirtualMachines, 'nameOf' | 'get'>;
  readonly settings: ActivitySettings;
}

/** The worker's configuration, as far as activities and workflows need it; durations in milliseconds. */
export interface ActivitySettings {
  readonly rollout: RolloutSettings;
  readonly replacement: ReplacementSettings;
  readonly candidates: CandidateRules;
  /** So many nodes of all pools together may be disrupted by us at once. */
  readonly maxDisruptedNodes: number;
  /** How many offerings one replacement tries at the most. */
  readonly maxLaunchAttempts: number;
  /** What a Retry-After of Azure is clamped to. */
  readonly pollDelayMinMs: number;
  readonly pollDelayMaxMs: number;
}

/** @throws ApplicationFailure when the workflow means another cluster than this worker */
export function checkCluster(environment: ActivityEnvironment, cluster: string): void {
  if (cluster === environment.clusterId) return;
  throw ApplicationFailure.nonRetryable(
    `this worker serves cluster ${environment.clusterId}, the workflow is about ${cluster}`,
    failureTypes.wrongCluster,
  );
}

/** Ends an activity for good: what it was to change is not what it was, or not ours. */
export function refuse(message: string): never {
  throw ApplicationFailure.nonRetryable(message, failureTypes.refused);
}
