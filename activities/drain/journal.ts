import { activityInfo, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';

import type { Pod } from '../../karpenter/api.js';
import { podName } from '../../karpenter/pods.js';
import type { DrainFailureDetails } from '../../workflows/failures.js';

/** A pod that was refused is asked again after one interval, then two, four, ... up to so many. Karpenter: 1 s doubling to 10 s. */
const maxBackoffFactor = 10;
/** All that people need of an API server's words. */
const maxWhyLength = 300;

const obstacleSchema = z.object({
  /** `passing` needs nobody's help: the API server is busy, or the pod goes by itself. */
  kind: z.enum(['disruptionBudget', 'doNotDisrupt', 'passing']),
  /** `<namespace>/<name>` */
  pod: z.string(),
  why: z.string(),
  /** Epoch milliseconds, as all times here: when it first stood in the way. */
  sinceMs: z.number(),
  times: z.number(),
  askAgainAtMs: z.number(),
});
/** Why a pod does not go. */
export type Obstacle = z.infer<typeof obstacleSchema>;

const journalSchema = z.object({
  attempt: z.number(),
  evictionBegan: z.boolean(),
  /** By the pods' UIDs. */
  obstacles: z.record(z.string(), obstacleSchema),
  /** What an Event was recorded about: `<UID>/<kind>`. */
  told: z.array(z.string()),
  /** Pods without a controller that were evicted, and that no Event tells of yet. */
  bare: z.array(z.string()),
  detachingSinceMs: z.number().optional(),
});
type Entries = z.infer<typeof journalSchema>;

/** What a drain knows from one attempt to the next: Temporal keeps it as the activity's heartbeat details. */
export class DrainJournal {
  readonly #entries: Entries;

  private constructor(
    entries: Entries,
    /** The first attempt after a pause. */
    readonly isResumed: boolean,
  ) {
    this.#entries = entries;
  }

  /**
   * Opens the journal as the attempt before this one has saved it.
   * @param paused how the drain before this one has ended, when the kill switch has stopped it
   */
  static open(paused: DrainFailureDetails | null): DrainJournal {
    const info = activityInfo();
    const { attempt } = info;
    const saved = journalSchema.safeParse(info.heartbeatDetails);
    const evictionBegan = paused?.evictionBegan ?? false;
    const before: Entries = saved.success
      ? saved.data
      : { attempt: 0, evictionBegan, obstacles: {}, told: [], bare: [] };
    // An attempt that left no word, since its worker was lost, may have evicted.
    const isComplete = before.attempt === attempt - 1;
    const entries = { ...before, attempt, evictionBegan: before.evictionBegan || !isComplete };
    return new DrainJournal(entries, paused !== null && attempt === 1);
  }

  /** A pod was evicted or deleted, or may have been. */
  get evictionBegan(): boolean {
    return this.#entries.evictionBegan;
  }

  get obstacles(): readonly Obstacle[] {
    return Object.values(this.#entries.obstacles);
  }

  /** Pods without a controller that no Event tells of yet. */
  get untoldBare(): readonly string[] {
    return this.#entries.bare;
  }

  /** Obstacles that people can do something about and that no Event tells of yet. */
  get untold(): readonly Obstacle[] {
    return Object.entries(this.#entries.obstacles).flatMap(([uid, obstacle]) =>
      obstacle.kind === 'passing' || this.#entries.told.includes(`${uid}/${obstacle.kind}`) ? [] : [obstacle],
    );
  }

  noteEvictionBegan(): void {
    this.#entries.evictionBegan = true;
  }

  noteBare(pod: Pod): void {
    this.#entries.bare.push(podName(pod));
  }

  noteBareTold(): void {
    this.#entries.bare = [];
  }

  noteObstaclesTold(): void {
    const told = Object.entries(this.#entries.obstacles).map(([uid, { kind }]) => `${uid}/${kind}`);
    this.#entries.told = [...new Set([...this.#entries.told, ...told])];
  }

  /** Whether enough time has passed since the pod was refused. */
  isDue({ metadata }: Pod, nowMs: number): boolean {
    const obstacle = this.#entries.obstacles[metadata.uid];
    return obstacle === undefined || nowMs >= obstacle.askAgainAtMs;
  }

  /**
   * @param baseMs the first delay before the pod is asked again; it doubles
   * @param retryAfterMs what the API server asked for: at least so long
   */
  noteObstacle(
    pod: Pod,
    { kind, why }: Pick<Obstacle, 'kind' | 'why'>,
    { nowMs, baseMs, retryAfterMs = 0 }: { nowMs: number; baseMs: number; retryAfterMs?: number },
  ): void {
    const { uid } = pod.metadata;
    const before = this.#entries.obstacles[uid];
    const isSame = before?.kind === kind;
    const times = isSame ? before.times + 1 : 1;
    const backoffMs = baseMs * Math.min(2 ** (times - 1), maxBackoffFactor);
    this.#entries.obstacles[uid] = {
      kind,
      pod: podName(pod),
      why: why.slice(0, maxWhyLength),
      sinceMs: isSame ? before.sinceMs : nowMs,
      times,
      askAgainAtMs: nowMs + Math.max(backoffMs, retryAfterMs),
    };
  }

  clearObstacle({ metadata }: Pod): void {
    this.#entries.obstacles = Object.fromEntries(
      Object.entries(this.#entries.obstacles).filter(([uid]) => uid !== metadata.uid),
    );
  }

  /** Only these pods are still in the way. */
  keepObstaclesOf(pods: readonly Pod[]): void {
    const uids = new Set(pods.map(({ metadata }) => metadata.uid));
    const entries = Object.entries(this.#entries.obstacles).filter(([uid]) => uids.has(uid));
    this.#entries.obstacles = Object.fromEntries(entries);
  }

  /** Since when the node's volumes are waited for. */
  detachingSinceMs(nowMs: number): number {
    this.#entries.detachingSinceMs ??= nowMs;
    return this.#entries.detachingSinceMs;
  }

  /** Ends the attempt with this failure: the journal is saved, and the workflow told whether anything was evicted. */
  fail(error: unknown): never {
    heartbeat(this.#entries);
    const details: DrainFailureDetails = { evictionBegan: this.evictionBegan };
    throw ApplicationFailure.fromError(error, { details: [details] });
  }
}
