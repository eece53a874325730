import { ApiException } from '@kubernetes/client-node';
import { z } from 'zod';

import { errorMessage } from '../../runtime/errors.js';

const statusSchema = z.object({
  reason: z.string().optional(),
  message: z.string().optional(),
  details: z
    .object({
      retryAfterSeconds: z.number().optional(),
      causes: z.array(z.object({ reason: z.string().default(''), message: z.string().default('') })).optional(),
    })
    .optional(),
});

/** One of the Status body's causes, e.g. `DisruptionBudget`, `NamespaceTerminating`. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
}

/** The API server's answer when it refused a request. */
export class KubernetesError extends Error {
  override readonly name = 'KubernetesError';

  constructor(
    message: string,
    /** The HTTP status. */
    readonly code: number,
    /** The Status body's reason, e.g. `NotFound`, `Conflict`. */
    readonly reason: string,
    readonly retryAfterSeconds: number | undefined,
    readonly causes: readonly StatusCause[] = [],
  ) {
    super(message);
  }
}

/** The API server did not answer: it could not be reached, or took too long. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

/** We must not change anything now: the request was not sent. */
export class PausedError extends Error {
  override readonly name = 'PausedError';
}

function parseStatus(body: unknown): z.infer<typeof statusSchema> {
  let parsed = body;
  if (typeof body === 'string') {
    try {
      parsed = JSON.parse(body);
    } catch {
      return { message: body.slice(0, 200) };
    }
  }
  const status = statusSchema.safeParse(parsed);
  return status.success ? status.data : {};
}

/** What API priority and fairness refuses has no Status, only the header. */
function retryAfterSecondsOf(headers: Readonly<Record<string, string>>): number | undefined {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) ? seconds : undefined;
}

/**
 * Makes one request. client-node's own errors carry all headers and the whole body in their message; these say it in a line.
 * @param what the request in words, e.g. `read NodeClaim x`
 * @throws KubernetesError when the server refused; UnreachableError with a cause when it did not answer
 */
export async function request<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PausedError) throw error;
    if (!(error instanceof ApiException)) {
      throw new UnreachableError(`${what}: ${errorMessage(error)}`, { cause: error });
    }
    const status = parseStatus(error.body);
    const message = status.message ?? `HTTP ${error.code}`;
    throw new KubernetesError(
      `${what}: ${message}`,
      error.code,
      status.reason ?? '',
      status.details?.retryAfterSeconds ?? retryAfterSecondsOf(error.headers),
      status.details?.causes,
    );
  }
}

export function hasCode(error: unknown, ...codes: readonly number[]): boolean {
  return error instanceof KubernetesError && codes.includes(error.code);
}

/** Makes a request whose object may be gone: undefined then. */
export async function requestIfFound<T>(what: string, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request(what, call);
  } catch (error) {
    if (hasCode(error, 404)) return undefined;
    throw error;
  }
}

/** How often a write is tried again with a fresh read when somebody else wrote in between. */
const maxConflicts = 8;

/** Read, compute, write with the resourceVersion that was read as a precondition; again when somebody else was faster. */
export async function retryOnConflict<T>(attempt: () => Promise<T>): Promise<T> {
  for (let conflicts = 1; ; conflicts += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!hasCode(error, 409) || conflicts >= maxConflicts) throw error;
    }
  }
}
