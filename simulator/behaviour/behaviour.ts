import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import type { Log } from '../../runtime/log.js';
import type { ParallelLimit } from './parallelLimit.js';
import type { SharedInformers } from './sharedInformers.js';

/** Something that plays a part of the cluster. Between its making and `start` it only notes what it will have to look at. */
export interface Behaviour {
  /** To be called once the informers have synced. */
  start(): void;
  stop(): Promise<void>;
}

/** What a behaviour works with. */
export interface BehaviourContext {
  /** Carries the behaviour's name as user agent. */
  readonly api: KubernetesApi;
  /** How many requests the behaviour makes at once. */
  readonly limit: ParallelLimit;
  readonly informers: SharedInformers;
  readonly log: Log;
  /** Divides simulated milliseconds. */
  readonly speed: number;
}
