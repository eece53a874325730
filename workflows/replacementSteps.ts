import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { ActivityOptions } from '@temporalio/workflow';

import { describeOffering } from '../karpenter/offering.js';
import type { ArmWriteActivities, CreateRequest, ReplacementActivities } from './activityInterfaces.js';
import { readDrainFailure } from './failures.js';
import { heartbeatTimeout } from './heartbeatTimeout.js';
import { armWritesTaskQueueName } from './ids.js';
import type { Deletion, Launch, LaunchName, Removal, ReplacementRef, Reservation } from './replacementTypes.js';
import { resumable, untilUnpaused } from './resumable.js';
import type { ReplacementSettings } from './settings.js';

/** What a drain needs beyond a terminationGracePeriod: the last pods end in a minute, and then nothing is waited for. */
const drainOverrunMs = 5 * 60_000;
/** For what is done at once, though Kubernetes or ARM may be away for a while. */
const promptTimeout = '2 minutes';

/** How often a replacement that the kill switch has stopped looks whether it may go on. */
const pauseCheckInterval = '1 second';

const cancellationType = ActivityCancellationType.WAIT_CANCELLATION_COMPLETED;

/** The activities of one replacement, each with its bounds, its queue and a summary for the UI. */
export class ReplacementSteps {
  /** @param onPause is told why, when the kill switch stops a step */
  constructor(
    private readonly ref: ReplacementRef,
    private readonly settings: ReplacementSettings,
    private readonly onPause: (why: string) => void,
  ) {}

  reserve(): Promise<Reservation> {
    return this.#prompt(`Taint ${this.ref.node}, fix the replacement's shape`).reserve(this.ref);
  }

  create(request: CreateRequest): Promise<Launch> {
    // ARM may throttle writes, or be away: that is no reason to give the launch up before its time.
    const options = this.#waiting(this.settings.launchTimeoutMs, this.settings.pollIntervalMs);
    return this.#armWrite(`Create ${describeOffering(request.offering)}`, options).createReplacement(this.ref, request);
  }

  pollLaunch(launch: Launch): Promise<void> {
    const options = this.#waiting(this.settings.launchTimeoutMs, this.settings.pollIntervalMs);
    return this.#activities(options, `Follow the VM's create operation (${launch.virtualMachine})`).pollLaunch(
      this.ref,
      launch,
    );
  }

  initialize(launch: Launch): Promise<void> {
    const { initializeTimeoutMs, waitIntervalMs, registrationTtlMs } = this.settings;
    const options = this.#waiting(initializeTimeoutMs, waitIntervalMs);
    return this.#activities(options, `Wait for Node ${launch.virtualMachine} to be Initialized`).initialize(
      this.ref,
      launch,
      registrationTtlMs,
    );
  }

  /** @param terminationGracePeriodMs the old NodeClaim's: the drain is not ended before it */
  drain(launch: Launch | null, terminationGracePeriodMs: number | undefined): Promise<void> {
    const { drainTimeoutMs, waitIntervalMs } = this.settings;
    const timeoutMs =
      terminationGracePeriodMs === undefined ? drainTimeoutMs : terminationGracePeriodMs + drainOverrunMs;
    const options = this.#waiting(timeoutMs, waitIntervalMs);
    const activities = this.#pausable(options, `Evict the pods of ${this.ref.node}`);
    return untilUnpaused(
      (paused) => activities.drain(this.ref, launch, paused === undefined ? null : readDrainFailure(paused)),
      this.#untilResumed,
    );
  }

  beginDeletion(launch: Launch | null): Promise<Deletion> {
    return this.#armWrite(`Delete ${this.ref.node}`, this.#deleting()).beginDeletion(this.ref, launch);
  }

  beginRemoval(launch: LaunchName, evictionBegan: boolean): Promise<Removal> {
    return this.#armWrite(`Remove replacement ${launch.attempt + 1}`, this.#deleting()).beginRemoval(
      this.ref,
      launch,
      evictionBegan,
    );
  }

  followDeletion(deletion: Deletion): Promise<void> {
    return this.#activities(this.#deleting(), `Follow the deletion of ${deletion.virtualMachine}`).followDeletion(
      this.ref,
      deletion,
    );
  }

  release(): Promise<void> {
    return this.#prompt(`Take the taint off ${this.ref.node}`).release(this.ref);
  }

  /** What is to be deleted is tried for as long as a deletion may take: half deleted is worse than late. */
  #deleting(): ActivityOptions {
    return this.#waiting(this.settings.deleteTimeoutMs, this.settings.pollIntervalMs);
  }

  /** Waiting is by retries at a steady pace: no slot is held and no history written between them. */
  #waiting(timeoutMs: number, intervalMs: number): ActivityOptions {
    return { scheduleToCloseTimeout: timeoutMs, retry: { initialInterval: intervalMs, backoffCoefficient: 1 } };
  }

  #prompt(summary: string): ReplacementActivities {
    return this.#activities({ scheduleToCloseTimeout: promptTimeout }, summary);
  }

  #activities(options: ActivityOptions, summary: string): ReplacementActivities {
    return resumable(this.#pausable(options, summary), this.#untilResumed);
  }

  /** They fail with Paused when the kill switch stops them. */
  #pausable(options: ActivityOptions, summary: string): ReplacementActivities {
    return proxyActivities<ReplacementActivities>({
      startToCloseTimeout: this.settings.attemptTimeoutMs,
      heartbeatTimeout,
      cancellationType,
      priority: { fairnessKey: this.ref.nodePool },
      summary,
      ...options,
    });
  }

  #armWrite(summary: string, options: ActivityOptions = {}): ArmWriteActivities {
    const activities = proxyActivities<ArmWriteActivities>({
      taskQueue: armWritesTaskQueueName(this.ref.cluster),
      startToCloseTimeout: this.settings.attemptTimeoutMs,
      heartbeatTimeout,
      scheduleToCloseTimeout: promptTimeout,
      cancellationType,
      priority: { fairnessKey: this.ref.nodePool },
      summary,
      ...options,
    });
    return resumable(activities, this.#untilResumed);
  }

  readonly #untilResumed = async (why: string): Promise<void> => {
    this.onPause(why);
    const { waitUntilResumed } = proxyActivities<ReplacementActivities>({
      startToCloseTimeout: this.settings.attemptTimeoutMs,
      heartbeatTimeout,
      retry: { initialInterval: pauseCheckInterval, backoffCoefficient: 1 },
      cancellationType,
      summary: 'Wait for the kill switch to be turned off',
    });
    await waitUntilResumed(this.ref);
  };
}
