import type { PipelinePolicy, PipelineResponse } from '@azure/core-rest-pipeline';
import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';

const errorSchema = z.object({ code: z.string().default(''), message: z.string().default('') });
const bodySchema = z.object({ status: z.string().optional(), error: errorSchema.optional() });

/** What an answer of ARM said, beyond what the SDK lets through. */
export interface CapturedResponse {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** The `status` of an operation's body. */
  readonly operationStatus: string | undefined;
  readonly error: { readonly code: string; readonly message: string } | undefined;
  /** It names an operation that can be followed. */
  readonly namesOperation: boolean;
}

/** The last answer that came during one call. */
export interface Capture {
  last: CapturedResponse | undefined;
}

/** ARM's codes for a resource that does not exist. Other answers of 404 are about what surrounds it, or come from elsewhere. */
const notFoundCodes: ReadonlySet<string> = new Set(['ResourceNotFound', 'NotFound']);

/** The resource that the call was about does not exist. */
export function isNotFound({ last }: Capture): boolean {
  return last?.status === 404 && notFoundCodes.has(last.error?.code ?? '');
}

function parseRetryAfterMs(response: PipelineResponse): number | undefined {
  const exact = response.headers.get('retry-after-ms');
  if (exact !== undefined && /^\d+$/.test(exact)) return Number(exact);
  const text = response.headers.get('retry-after');
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

function parseBody(response: PipelineResponse): z.infer<typeof bodySchema> {
  try {
    const parsed = bodySchema.safeParse(JSON.parse(response.bodyAsText ?? ''));
    return parsed.success ? parsed.data : {};
  } catch {
    // No body, or none in JSON: a gateway's page says nothing that we read.
    return {};
  }
}

/**
 * The SDK hides Retry-After of polls, drops an operation's error details and renames codes: this policy keeps what the answer itself
 * said, for the call that it belongs to.
 */
export class ResponseCapture {
  readonly #storage = new AsyncLocalStorage<Capture>();

  readonly policy: PipelinePolicy = {
    name: 'driftlessResponseCapture',
    sendRequest: async (request, next) => {
      const response = await next(request);
      const capture = this.#storage.getStore();
      if (capture !== undefined) {
        const { status, error } = parseBody(response);
        capture.last = {
          status: response.status,
          retryAfterMs: parseRetryAfterMs(response),
          operationStatus: status,
          error,
          namesOperation: response.headers.has('azure-asyncoperation'),
        };
      }
      return response;
    },
  };

  /** Runs a call of the SDK; the capture that it gets holds the last answer at any moment. */
  run<T>(call: (capture: Capture) => Promise<T>): Promise<T> {
    const capture: Capture = { last: undefined };
    return this.#storage.run(capture, () => call(capture));
  }
}
