import { applyPatch } from 'rfc6902';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

import type { Fields } from './objects.js';
import { isFields } from './objects.js';
import { badRequest, patchDoesNotApply } from './statusErrors.js';

const path = z.string();
const from = z.string();
// RFC 6902 tells a null value from none: a missing one is refused by `add` and `replace`.
const value = z.unknown();
const operationsSchema = z.array(
  z.discriminatedUnion('op', [
    z.object({ op: z.literal('add'), path, value }),
    z.object({ op: z.literal('replace'), path, value }),
    z.object({ op: z.literal('test'), path, value }),
    z.object({ op: z.literal('remove'), path }),
    z.object({ op: z.literal('move'), path, from }),
    z.object({ op: z.literal('copy'), path, from }),
  ]),
);
type Operation = z.infer<typeof operationsSchema>[number];

function valueAt(document: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1);
  let current = document;
  for (const name of names.map((each) => each.replaceAll('~1', '/').replaceAll('~0', '~'))) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined;
    current = Reflect.get(current, name);
  }
  return current;
}

function applies(document: object, operation: Operation): boolean {
  const pointers = 'from' in operation ? [operation.path, operation.from] : [operation.path];
  if (!pointers.every((pointer) => pointer.startsWith('/'))) return false;
  if (operation.op === 'test') {
    // A test for null holds for a field that is not there, as in the library that the API server uses.
    return isDeepStrictEqual(valueAt(document, operation.path) ?? null, operation.value ?? null);
  }
  return applyPatch(document, [operation]).every((error) => error === null);
}

function copyOf(object: object): object {
  const copy: unknown = JSON.parse(JSON.stringify(object));
  return isFields(copy) ? copy : {};
}

/**
 * Applies an RFC 6902 patch; the object itself stays as it is.
 * @throws ApiError 400 when the patch is none, 422 when one of its operations does not apply
 */
export function applyJsonPatch(object: object, patch: unknown): unknown {
  const operations = operationsSchema.safeParse(patch);
  if (!operations.success) throw badRequest(`error decoding patch: ${z.prettifyError(operations.error)}`);
  const document = copyOf(object);
  for (const operation of operations.data) {
    if (!applies(document, operation)) throw patchDoesNotApply();
  }
  return document;
}

function merge(target: unknown, patch: Fields): Fields {
  const merged = new Map(isFields(target) ? Object.entries(target) : []);
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) merged.delete(name);
    else merged.set(name, isFields(change) ? merge(merged.get(name), change) : change);
  }
  return Object.fromEntries(merged);
}

/**
 * Applies an RFC 7386 patch; the object itself stays as it is.
 * @throws ApiError 400 when the patch is not an object
 */
export function applyMergePatch(object: object, patch: unknown): unknown {
  if (!isFields(patch)) throw badRequest('Invalid JSON Patch');
  return merge(object, patch);
}
