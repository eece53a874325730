import {
  ApplicationFailure,
  CancellationScope,
  getExternalWorkflowHandle,
  log,
  workflowInfo,
} from '@temporalio/workflow';

import { describeOffering } from '../karpenter/offering.js';
import { readCancellation, throwIfCanceled } from './cancellation.js';
import { mayHaveEvicted, readLaunchFailure, readNotNeeded, summarizeFailure } from './failures.js';
import { rolloutWorkflowId } from './ids.js';
import { pokeSignal } from './messages.js';
import { ReplacementProgress } from './replacementProgress.js';
import { ReplacementSteps } from './replacementSteps.js';
import type {
  Adopted,
  EmptyNode,
  Launch,
  LaunchName,
  ReplacementRef,
  ReplacementResult,
  ReplaceNodeInput,
  Reserved,
} from './replacementTypes.js';

/**
 * Replaces one node: reserve, launch, drain, delete. Up to the drain a failure or a cancellation undoes everything; once the old
 * node is being deleted there is no way back, and the workflow goes through to the end.
 */
export async function replaceNode(input: ReplaceNodeInput): Promise<ReplacementResult> {
  const replacement = new Replacement(input);
  try {
    const reservation = await replacement.reserve();
    if (reservation.kind === 'notNeeded') return await replacement.notNeeded(reservation.why);
    const launch =
      reservation.kind === 'empty' ? replacement.launchNothing(reservation) : await replacement.launch(reservation);
    await replacement.drain(launch, reservation);
    return await CancellationScope.nonCancellable(() => replacement.finish(launch));
  } catch (error) {
    await CancellationScope.nonCancellable(() => replacement.undo(error));
    const why = readNotNeeded(error);
    if (why !== undefined) return replacement.endNotNeeded(why);
    throw replacement.failure(error);
  }
}

/** The story of one replacement, a method a chapter. */
class Replacement {
  readonly #progress: ReplacementProgress;
  readonly #steps: ReplacementSteps;
  /** Launches that may have left something behind. */
  #launched: LaunchName[] = [];
  readonly #removals: Promise<void>[] = [];
  #evictionBegan = false;
  #deletionBegan = false;

  constructor(private readonly input: ReplaceNodeInput) {
    const { cluster, nodePool, nodeClaim, uid, node, reason, round, settings } = input;
    const ref: ReplacementRef = {
      cluster,
      nodePool,
      nodeClaim,
      uid,
      node,
      reason,
      round,
      workflowId: workflowInfo().workflowId,
    };
    this.#progress = new ReplacementProgress(input);
    this.#steps = new ReplacementSteps(ref, settings, (why) => {
      this.#progress.note(`paused: ${why}`);
    });
  }

  reserve(): ReturnType<ReplacementSteps['reserve']> {
    this.#progress.enter('Reserve', 'Reserve');
    return this.#steps.reserve();
  }

  async notNeeded(why: string): Promise<ReplacementResult> {
    await CancellationScope.nonCancellable(() => this.#steps.release());
    return this.endNotNeeded(why);
  }

  endNotNeeded(why: string): ReplacementResult {
    this.#progress.end('NotNeeded', why);
    return { kind: 'notNeeded', nodeClaim: this.input.nodeClaim, why };
  }

  /** Tries the offerings in turn until one has become an Initialized node; what failed is removed meanwhile. */
  async launch({ offerings, requests, wanted, imageId, earlier = [], adopted }: Reserved): Promise<Launch> {
    for (const name of earlier) this.#removeMeanwhile(name);
    if (adopted !== undefined) return this.#adopt(adopted);
    for (const [attempt, offering] of offerings.entries()) {
      this.#progress.enter('Launch', `Launch ${attempt + 1}`, describeOffering(offering));
      const name: LaunchName = { round: this.input.round, attempt };
      this.#launched.push(name);
      try {
        const launch = await this.#steps.create({
          ...name,
          offering,
          imageId,
          ...(requests === undefined ? {} : { requests }),
        });
        this.#progress.note(`${describeOffering(offering)} as ${launch.nodeClaim}`);
        await this.#untilInitialized(launch);
        return launch;
      } catch (error) {
        const failure = readLaunchFailure(error);
        if (failure === undefined) throw error;
        this.#progress.launchFailed(failure);
        if (!failure.anotherOffering || attempt + 1 === offerings.length) throw error;
        this.#launched = this.#launched.filter((other) => other !== name);
        this.#removeMeanwhile(name);
      }
    }
    const looked = wanted === undefined ? '' : `: wanted ${wanted}`;
    throw ApplicationFailure.nonRetryable(`no offering fits this node${looked}`, 'NoOffering');
  }

  /** No pod has to move, so that nothing has to take the node's place. */
  launchNothing({ earlier }: EmptyNode): null {
    for (const name of earlier) this.#removeMeanwhile(name);
    return null;
  }

  /** @param launch null: the node is empty but for pods that go with it */
  async drain(
    launch: Launch | null,
    { terminationGracePeriodMs }: Pick<Reserved, 'terminationGracePeriodMs'>,
  ): Promise<void> {
    throwIfCanceled();
    this.#progress.enter('Drain', 'Drain', launch === null ? 'empty' : `to ${launch.virtualMachine}`);
    this.#evictionBegan = true;
    try {
      await this.#steps.drain(launch, terminationGracePeriodMs);
    } catch (error) {
      this.#evictionBegan = mayHaveEvicted(error);
      throw error;
    }
    throwIfCanceled();
  }

  /** Deletes the old node; the permit is free as soon as Azure has accepted that. */
  async finish(launch: Launch | null): Promise<ReplacementResult> {
    this.#progress.enter('Delete', 'Delete');
    this.#deletionBegan = true;
    const deletion = await this.#steps.beginDeletion(launch);
    this.#launched = [];
    await this.#pokeRollout();
    await this.#steps.followDeletion(deletion);
    await Promise.all(this.#removals);
    this.#progress.end('Replaced', '');
    const { nodeClaim, reason, reasonDetail } = this.input;
    return {
      kind: 'replaced',
      nodeClaim,
      replacement: launch?.nodeClaim ?? null,
      reason,
      reasonDetail,
      offering: launch?.offering ?? null,
      launchFailures: this.#progress.launchFailures,
    };
  }

  /** Compensation, in reverse: the replacements go, unless something has moved onto them; the old node is free again. */
  async undo(error: unknown): Promise<void> {
    this.#progress.enter('Delete', 'Undo', readCancellation(error) ? 'canceled' : summarizeFailure(error).code);
    const removals = this.#launched.map((name) => this.#remove(name));
    // A node that may be half deleted takes no pods any more.
    if (this.#deletionBegan) this.#progress.leftover(`${this.input.node}: its deletion has begun and did not end`);
    else await this.#release();
    await Promise.all([...removals, ...this.#removals]);
  }

  /** What the workflow ends with after the undoing: a cancellation stays one. */
  failure(error: unknown): unknown {
    const cancellation = readCancellation(error);
    if (cancellation !== undefined) {
      this.#progress.end('Canceled', 'canceled by hand');
      return cancellation;
    }
    const { code, message } = summarizeFailure(error);
    this.#progress.failed(code, message);
    const { launchFailures, leftovers } = this.#progress;
    return ApplicationFailure.create({
      type: code,
      message,
      nonRetryable: true,
      details: [{ nodeClaim: this.input.nodeClaim, launchFailures, leftovers }],
      ...(error instanceof Error ? { cause: error } : {}),
    });
  }

  /** An earlier round came as far as an Initialized replacement: it serves as well as a new one. */
  #adopt({ name, launch }: Adopted): Launch {
    this.#progress.enter('Launch', 'Launch', `${launch.nodeClaim}, from an earlier round`);
    this.#launched.push(name);
    return launch;
  }

  #removeMeanwhile(name: LaunchName): void {
    this.#removals.push(CancellationScope.nonCancellable(() => this.#remove(name)));
  }

  /** Whichever comes first: Initialized, whatever the operation says; or the operation's failure, or a deadline. */
  async #untilInitialized(launch: Launch): Promise<void> {
    const scope = new CancellationScope();
    await scope.run(async () => {
      const initialized = this.#steps.initialize(launch);
      const operation = this.#steps.pollLaunch(launch);
      try {
        await Promise.race([initialized, operation.then(() => initialized)]);
      } finally {
        scope.cancel();
        await CancellationScope.nonCancellable(() => Promise.allSettled([initialized, operation]));
      }
    });
  }

  /** Removes one launch to the end. What cannot be removed is reported. */
  async #remove(name: LaunchName): Promise<void> {
    try {
      const removal = await this.#steps.beginRemoval(name, this.#evictionBegan);
      switch (removal.kind) {
        case 'kept':
          this.#progress.leftover(removal.why);
          return;
        case 'nothing':
          return;
        case 'deleting':
          await this.#steps.followDeletion(removal.deletion);
      }
    } catch (error) {
      this.#leave(`replacement ${name.attempt + 1}`, error);
    }
  }

  async #release(): Promise<void> {
    try {
      await this.#steps.release();
    } catch (error) {
      this.#leave(`the taint on ${this.input.node}`, error);
    }
  }

  #leave(what: string, error: unknown): void {
    const { message } = summarizeFailure(error);
    log.warn('clean-up failed', { what, error: message });
    this.#progress.leftover(`${what}: ${message}`);
  }

  /** Only a hint that a permit is free: the rollout reads that from the cluster, so a closed rollout is no error. */
  async #pokeRollout(): Promise<void> {
    const { cluster, nodePool } = this.input;
    try {
      await getExternalWorkflowHandle(rolloutWorkflowId(cluster, nodePool)).signal(pokeSignal);
    } catch (error) {
      log.debug('no rollout to poke', { error: error instanceof Error ? error.message : String(error) });
    }
  }
}
