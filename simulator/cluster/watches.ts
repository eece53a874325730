import type { ServerResponse } from 'node:http';

import type { Change, EventType } from './change.js';
import { watchLine } from './change.js';
import type { FaultPlan, FaultTarget, WatchFaultEffect } from './faults.js';
import type { KubernetesObject } from './objects.js';
import type { ObjectStore } from './objectStore.js';
import type { ResourceType } from './resources.js';
import { apiVersionOf } from './resources.js';
import type { Selection } from './selection.js';
import { resourceVersionExpired } from './statusErrors.js';
import { tableOf } from './table.js';
import type { Column } from './tableColumns.js';
import { WatchStream } from './watchStream.js';

/** A watch that a client asks for. */
export interface WatchRequest {
  readonly selection: Selection;
  /** Undefined: from now, after the present objects as ADDED. */
  readonly since: number | undefined;
  /** The present objects end with a bookmark that says so. */
  readonly tellsInitialEnd: boolean;
  /** The objects are shown as rows of a table; undefined: as they are. */
  readonly columns: readonly Column[] | undefined;
  readonly wantsBookmarks: boolean;
  /** Undefined: the server chooses. */
  readonly timeoutSeconds: number | undefined;
  readonly target: FaultTarget;
}

interface OpenWatch {
  readonly request: WatchRequest;
  readonly stream: WatchStream;
}

/** How long a watch lasts at least when the client does not say; up to twice that. */
const defaultTimeoutSeconds = 1800;

const initialEnd = { annotations: { 'k8s.io/initial-events-end': 'true' } };

function bookmark(type: ResourceType, revision: number, more?: typeof initialEnd): Buffer {
  const metadata = { resourceVersion: String(revision), ...more };
  return watchLine('BOOKMARK', JSON.stringify({ kind: type.kind, apiVersion: apiVersionOf(type), metadata }));
}

function rowLine(event: EventType, columns: readonly Column[], object: KubernetesObject): Buffer {
  const { resourceVersion } = object.metadata;
  return watchLine(event, JSON.stringify(tableOf(columns, [object], { resourceVersion })));
}

function lineOf(change: Change, { selection, columns }: WatchRequest): Buffer | undefined {
  if (columns === undefined) return change.lineFor(selection);
  const event = change.eventFor(selection);
  const stored = event === undefined ? undefined : change.objectAt(event);
  return event === undefined || stored === undefined ? undefined : rowLine(event, columns, stored.object);
}

/** Lets a fault happen to a watch. */
export function befall(stream: WatchStream, effect: WatchFaultEffect): void {
  switch (effect.kind) {
    case 'silence':
      stream.silence();
      return;
    case 'end':
      stream.end();
      return;
    case 'errorEvent':
      stream.end(watchLine('ERROR', JSON.stringify(effect.status)));
  }
}

/** All open watches. */
export class Watches {
  readonly #open = new Map<ResourceType, Set<OpenWatch>>();
  readonly #bookmarks: NodeJS.Timeout;

  constructor(
    private readonly store: ObjectStore,
    bookmarkIntervalMs: number,
  ) {
    store.onChange((change) => {
      this.#send(change);
    });
    this.#bookmarks = setInterval(() => {
      this.#sendBookmarks();
    }, bookmarkIntervalMs);
  }

  /** Answers a request with a stream of changes, which begins within this call: nothing is missed in between. */
  start(request: WatchRequest, response: ServerResponse): WatchStream {
    const stream = new WatchStream(response);
    const { since } = request;
    if (since !== undefined && since < this.store.oldestResumable) {
      const { status } = resourceVersionExpired(since, this.store.oldestResumable);
      stream.end(watchLine('ERROR', JSON.stringify(status)));
      return stream;
    }
    stream.sendBacklog(this.#backlog(request));
    this.#register({ request, stream }, response);
    return stream;
  }

  /** Lets the faults hit the watches that are open, oldest first. */
  applyFaults(plan: FaultPlan): void {
    for (const { request, stream } of [...this.#open.values()].flatMap((watches) => [...watches])) {
      const effect = plan.takeForOpenWatch(request.target);
      if (effect !== undefined) befall(stream, effect);
    }
  }

  stop(): void {
    clearInterval(this.#bookmarks);
    for (const watches of this.#open.values()) for (const { stream } of watches) stream.destroy();
  }

  #register(watch: OpenWatch, response: ServerResponse): void {
    const { request, stream } = watch;
    const watches = this.#open.get(request.selection.type) ?? new Set();
    this.#open.set(request.selection.type, watches);
    watches.add(watch);
    const seconds = request.timeoutSeconds ?? defaultTimeoutSeconds * (1 + Math.random());
    const timeout = setTimeout(() => {
      stream.expire();
    }, seconds * 1000);
    response.once('close', () => {
      clearTimeout(timeout);
      watches.delete(watch);
    });
  }

  #backlog(request: WatchRequest): readonly Buffer[] {
    const { selection, since, tellsInitialEnd, columns } = request;
    if (since === undefined) {
      const present = this.store
        .list(selection)
        .map(({ json, object }) =>
          columns === undefined ? watchLine('ADDED', json) : rowLine('ADDED', columns, object),
        );
      return tellsInitialEnd ? [...present, bookmark(selection.type, this.store.revision, initialEnd)] : present;
    }
    const changes = this.store.changesSince(selection.type, since);
    return changes.flatMap((change) => lineOf(change, request) ?? []);
  }

  #send(change: Change): void {
    for (const { request, stream } of this.#open.get(change.type) ?? []) {
      // A client may ask for a revision that is yet to come.
      if (request.since !== undefined && change.revision <= request.since) continue;
      const line = lineOf(change, request);
      if (line !== undefined) stream.send(line);
    }
  }

  #sendBookmarks(): void {
    for (const [type, watches] of this.#open) {
      const line = bookmark(type, this.store.revision);
      for (const { request, stream } of watches) {
        // A bookmark is no row.
        if (request.wantsBookmarks && request.columns === undefined) stream.send(line);
      }
    }
  }
}
