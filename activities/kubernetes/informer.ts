import { setTimeout as delay } from 'node:timers/promises';

import { errorMessage } from '../../runtime/errors.js';
import type { Log } from '../../runtime/log.js';
import type { KubernetesApi } from './kubernetesApi.js';
import type { WatchEnd } from './watchConnection.js';
import { fieldOf, watchOnce } from './watchConnection.js';

/** One collection of the API server, and how its objects are read. */
export interface Collection<T> {
  /** e.g. `/apis/karpenter.sh/v1/nodeclaims` */
  readonly path: string;
  /** Only objects that match it. */
  readonly fieldSelector?: string;
  list(api: KubernetesApi): Promise<{ readonly items: readonly T[]; readonly resourceVersion: string }>;
  /** @throws when the object does not have the fields that Driftless reads */
  parse(object: unknown): T;
  /** Unique within the collection: a name, or namespace and name. */
  key(object: T): string;
}

export type InformerEvent<T> =
  | { readonly type: 'set'; readonly object: T; readonly previous: T | undefined }
  | { readonly type: 'deleted'; readonly object: T };

export interface InformerOptions {
  /** First wait after a lost connection; doubles up to thirty times that. */
  readonly retryDelayMs: number;
  /** A watch without a byte for so long is taken for dead, in milliseconds. Default: 30 s. */
  readonly silenceMs?: number;
  readonly log: Log;
}

/** After so many watches in a row that ended at once we list again: the server may have forgotten where we were without saying so. */
const maxHastyEnds = 3;

interface ResumePoint {
  resourceVersion: string;
}

function resourceVersionOf(object: unknown): string | undefined {
  const version = fieldOf(fieldOf(object, 'metadata'), 'resourceVersion');
  return typeof version === 'string' ? version : undefined;
}

/**
 * Keeps a copy of one collection up to date: list, then watch from there with bookmarks, resume after every loss, list again when
 * the server has forgotten where we were (410 in any form). Listeners are told what changed, after a new list too.
 */
export class Informer<T> {
  readonly #objects = new Map<string, T>();
  readonly #listeners = new Set<(event: InformerEvent<T>) => void>();
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #whyBehind: string | undefined;
  #resolveSynced: () => void = () => undefined;
  /** Settles when the first list has been read; rejects never: see the log for why it takes long. */
  readonly synced: Promise<void>;

  constructor(
    private readonly api: KubernetesApi,
    private readonly collection: Collection<T>,
    private readonly options: InformerOptions,
  ) {
    this.synced = new Promise((resolve) => {
      this.#resolveSynced = resolve;
    });
    this.#running = this.#run();
  }

  /** Since when and why the copy is not kept up to date; undefined: it is. */
  get whyBehind(): string | undefined {
    return this.#whyBehind;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): readonly T[] {
    return [...this.#objects.values()];
  }

  /** Calls the listener with every later change; answers how to stop that. A listener must not throw. */
  onChange(listener: (event: InformerEvent<T>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    let failures = 0;
    let hastyEnds = 0;
    let resume: ResumePoint | undefined;
    while (!this.#isStopped()) {
      try {
        resume ??= await this.#relist();
        const startedAt = performance.now();
        const end = await this.#watch(resume);
        const hasLasted = performance.now() - startedAt >= this.options.retryDelayMs;
        // What had lasted makes up for what failed before. A server that ends each watch at once would have us spin: that counts, too.
        if (hasLasted) failures = 0;
        else if (end.kind !== 'failed') failures += 1;
        hastyEnds = end.kind === 'closed' && !hasLasted ? hastyEnds + 1 : 0;
        if (end.kind === 'expired' || hastyEnds >= maxHastyEnds) {
          resume = undefined;
          hastyEnds = 0;
        }
        if (end.kind === 'failed') throw end.error;
      } catch (error) {
        if (this.#isStopped()) return;
        failures += 1;
        const { path } = this.collection;
        this.#whyBehind ??= `${path} not watched since ${new Date().toISOString()}: ${errorMessage(error)}`;
        this.options.log.warn({ path, failures, error: errorMessage(error) }, 'watch lost');
      }
      if (failures > 0) await this.#backOff(failures);
    }
  }

  #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #backOff(failures: number): Promise<void> {
    const factor = Math.min(2 ** (failures - 1), 30);
    const delayMs = this.options.retryDelayMs * factor * (0.5 + Math.random() / 2);
    await delay(delayMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  async #relist(): Promise<ResumePoint> {
    const { items, resourceVersion } = await this.collection.list(this.api);
    const gone = new Map(this.#objects);
    for (const object of items) {
      gone.delete(this.collection.key(object));
      this.#set(object);
    }
    for (const [key, object] of gone) this.#delete(key, object);
    this.#resolveSynced();
    return { resourceVersion };
  }

  /** One watch connection, from the resume point on, which it moves. */
  #watch(resume: ResumePoint): Promise<WatchEnd> {
    const { path, fieldSelector } = this.collection;
    return watchOnce({
      kubeConfig: this.api.kubeConfig,
      path,
      fieldSelector,
      resourceVersion: resume.resourceVersion,
      silenceMs: this.options.silenceMs,
      signal: this.#stopping.signal,
      onOpen: () => {
        this.#whyBehind = undefined;
      },
      onEvent: (type, object) => {
        this.#apply(type, object);
        resume.resourceVersion = resourceVersionOf(object) ?? resume.resourceVersion;
      },
    });
  }

  #apply(type: string, raw: unknown): void {
    if (type === 'BOOKMARK') return;
    const object = this.collection.parse(raw);
    if (type === 'DELETED') this.#delete(this.collection.key(object), object);
    else this.#set(object);
  }

  #set(object: T): void {
    const key = this.collection.key(object);
    const previous = this.#objects.get(key);
    const version = resourceVersionOf(object);
    if (previous !== undefined && version !== undefined && resourceVersionOf(previous) === version) return;
    this.#objects.set(key, object);
    for (const listener of this.#listeners) listener({ type: 'set', object, previous });
  }

  #delete(key: string, object: T): void {
    if (!this.#objects.delete(key)) return;
    for (const listener of this.#listeners) listener({ type: 'deleted', object });
  }
}
