import { z } from 'zod';

import { badRequest } from './statusErrors.js';

/** Where a list in pages goes on. */
export interface ContinueToken {
  /** The state of which all pages are; undefined for the present one. */
  readonly revision: number | undefined;
  /** The first key that may come next. */
  readonly startKey: string;
}

const tokenSchema = z.object({ v: z.literal('meta.k8s.io/v1'), rv: z.int(), start: z.string().min(1) });
/** Says that the next page need not be of the same state as those before. */
const inconsistentRevision = -1;

export function encodeContinue({ revision, startKey }: ContinueToken): string {
  const token = { v: 'meta.k8s.io/v1', rv: revision ?? inconsistentRevision, start: startKey };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

function parseText(text: string): unknown {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return value;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw badRequest(`invalid continue token: continue key is not valid: ${why}`);
  }
}

/** @throws ApiError 400 */
export function decodeContinue(text: string): ContinueToken {
  const parsed = tokenSchema.safeParse(parseText(text));
  if (!parsed.success) {
    throw badRequest(`invalid continue token: continue key is not valid: ${z.prettifyError(parsed.error)}`);
  }
  const { rv, start } = parsed.data;
  return { revision: rv === inconsistentRevision ? undefined : rv, startKey: start };
}
