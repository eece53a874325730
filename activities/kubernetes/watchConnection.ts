import type { KubeConfig } from '@kubernetes/client-node';
import { Watch } from '@kubernetes/client-node';

/** Longer than a busy server's bookmarks are apart would be too long to find out that nobody is there. */
const defaultSilenceMs = 30_000;
/** The server ends a watch after so long, so that connections spread over its replicas again. */
const serverTimeoutSeconds = 300;

/** How a watch connection ended. */
export type WatchEnd =
  /** In good order, or for its silence: a new one from the same point misses nothing. */
  | { readonly kind: 'closed' }
  /** The server has forgotten where we were. */
  | { readonly kind: 'expired' }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface WatchConnectionOptions {
  readonly kubeConfig: KubeConfig;
  readonly path: string;
  readonly fieldSelector: string | undefined;
  /** The watch tells what happened after it. */
  readonly resourceVersion: string;
  /** A connection without a byte for so long is quiet or dead, in milliseconds: both are ended. Default: 30 s. */
  readonly silenceMs: number | undefined;
  /** Ends the connection when it aborts. */
  readonly signal: AbortSignal;
  /** The server has begun to answer. */
  readonly onOpen: () => void;
  /** Told of each change and bookmark, and of nothing more once the connection has ended; what it throws ends the connection. */
  readonly onEvent: (type: string, object: unknown) => void;
}

/** A field of what came from outside; undefined where there is none. */
export function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined;
}

/** 410 in any form: as the answer's status, or in a Status by its code or by its reason alone. */
function isExpiry(error: unknown): boolean {
  const reason = fieldOf(error, 'reason');
  return (
    [fieldOf(error, 'statusCode'), fieldOf(error, 'code')].includes(410) || reason === 'Expired' || reason === 'Gone'
  );
}

function endOf(error: unknown): WatchEnd {
  if (error === null || error === undefined || fieldOf(error, 'name') === 'TimeoutError') return { kind: 'closed' };
  return isExpiry(error) ? { kind: 'expired' } : { kind: 'failed', error };
}

/** The end that an ERROR event announces. */
function endByStatus(status: unknown): WatchEnd {
  if (isExpiry(status)) return { kind: 'expired' };
  const error = new Error(`watch error ${String(fieldOf(status, 'code'))}: ${String(fieldOf(status, 'message'))}`);
  return { kind: 'failed', error };
}

/** Opens one watch connection with bookmarks; settles when it has ended, once, and rejects never. */
export function watchOnce(options: WatchConnectionOptions): Promise<WatchEnd> {
  const { kubeConfig, path, fieldSelector, resourceVersion, silenceMs = defaultSilenceMs, signal } = options;
  return new Promise((resolve) => {
    let connection: AbortController | undefined;
    let hasEnded = false;
    const finish = (end: WatchEnd): void => {
      if (hasEnded) return;
      hasEnded = true;
      clearTimeout(silence);
      signal.removeEventListener('abort', onStop);
      connection?.abort();
      resolve(end);
    };
    const onStop = (): void => {
      finish({ kind: 'closed' });
    };
    const silence = setTimeout(onStop, silenceMs);
    signal.addEventListener('abort', onStop);
    const hear = (type: string, object: unknown): void => {
      if (hasEnded) return;
      silence.refresh();
      if (type === 'ERROR') {
        finish(endByStatus(object));
        return;
      }
      // Watch swallows what its callback throws.
      try {
        options.onEvent(type, object);
      } catch (error) {
        finish({ kind: 'failed', error });
      }
    };
    const query = {
      allowWatchBookmarks: true,
      resourceVersion,
      timeoutSeconds: serverTimeoutSeconds,
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    };
    new Watch(kubeConfig)
      .watch(path, query, hear, (error: unknown) => {
        finish(endOf(error));
      })
      .then(
        (controller) => {
          connection = controller;
          if (hasEnded) controller.abort();
          else options.onOpen();
        },
        (error: unknown) => {
          finish({ kind: 'failed', error });
        },
      );
  });
}
