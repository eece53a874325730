import { isDeepStrictEqual } from 'node:util';

import { mergeKeyOf } from './mergeKeys.js';
import type { Fields } from './objects.js';
import { isFields, without } from './objects.js';
import type { Shape, StructShape } from './shape.js';
import { badRequest } from './statusErrors.js';

const directive = '$patch';
const orderPrefix = '$setElementOrder/';
const deletePrefix = '$deleteFromPrimitiveList/';
const retainKeys = '$retainKeys';

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return isList(value) ? value : [];
}

/** Where two lists of items that are told apart by a key (or, as texts, by themselves) have the same item. */
type Identity = (item: unknown) => unknown;

function identityOf(mergeKey: string): Identity {
  return mergeKey === 'set' ? (item) => item : (item) => (isFields(item) ? item[mergeKey] : undefined);
}

function indexIn(list: readonly unknown[], item: unknown, identity: Identity): number {
  return list.findIndex((each) => isDeepStrictEqual(identity(each), identity(item)));
}

/** Puts the items that only the server has among those of the patch, before the first that follows them on the server. */
function interleaved(
  serverOnly: readonly unknown[],
  patched: readonly unknown[],
  serverOrder: readonly unknown[],
  identity: Identity,
): readonly unknown[] {
  const left = [...serverOnly];
  const right = [...patched];
  const all: unknown[] = [];
  while (left.length > 0 && right.length > 0) {
    const [leftAt, rightAt] = [indexIn(serverOrder, left[0], identity), indexIn(serverOrder, right[0], identity)];
    all.push(leftAt >= 0 && rightAt >= 0 && leftAt < rightAt ? left.shift() : right.shift());
  }
  return [...all, ...left, ...right];
}

function inOrder(
  merged: readonly unknown[],
  order: readonly unknown[],
  serverOrder: readonly unknown[],
  identity: Identity,
): readonly unknown[] {
  const byOrder = (list: readonly unknown[]) => (one: unknown, other: unknown) =>
    indexIn(list, one, identity) - indexIn(list, other, identity);
  const isPatched = (item: unknown): boolean => indexIn(order, item, identity) >= 0;
  const patched = merged.filter(isPatched).sort(byOrder(order));
  const serverOnly = merged.filter((item) => !isPatched(item)).sort(byOrder(serverOrder));
  return interleaved(serverOnly, patched, serverOrder, identity);
}

function mergeItems(
  items: Shape,
  original: readonly unknown[],
  patch: readonly unknown[],
  identity: Identity,
): unknown[] {
  const deleted = patch.filter((item) => isFields(item) && item[directive] === 'delete');
  const merged = original.filter((item) => indexIn(deleted, item, identity) < 0);
  for (const item of patch.filter((each) => !deleted.includes(each))) {
    const at = indexIn(merged, item, identity);
    if (at < 0) merged.push(withoutDirectives(item));
    else merged[at] = mergeValue(items, merged[at], item);
  }
  return merged;
}

/** The list after its patch, in the order that the patch gives, else with the patch's items in the patch's order. */
function mergeList(
  shape: Extract<Shape, { type: 'list' }>,
  mergeKey: string,
  original: readonly unknown[],
  patch: readonly unknown[],
  order: readonly unknown[] | undefined,
): readonly unknown[] {
  const identity = identityOf(mergeKey);
  const isReplacement = (item: unknown): boolean => isFields(item) && item[directive] === 'replace';
  if (patch.some(isReplacement)) return patch.filter((item) => !isReplacement(item)).map(withoutDirectives);
  const kept = patch.filter((item) => !isFields(item) || item[directive] !== 'delete');
  return inOrder(mergeItems(shape.items, original, patch, identity), order ?? kept, original, identity);
}

function withoutDirectives(value: unknown): unknown {
  if (isList(value)) return value.map(withoutDirectives);
  if (!isFields(value)) return value;
  const kept = Object.entries(value).filter(([name, field]) => !name.startsWith('$') && field !== null);
  return Object.fromEntries(kept.map(([name, field]) => [name, withoutDirectives(field)]));
}

function mergeField(struct: StructShape, name: string, original: unknown, patch: Fields): unknown {
  const shape = struct.fields().get(name) ?? { type: 'any' };
  const change = patch[name];
  if (change === null) return undefined;
  const mergeKey = mergeKeyOf(struct.name, name);
  if (shape.type !== 'list' || mergeKey === undefined) {
    return change === undefined ? original : mergeValue(shape, original, change);
  }
  const deleted = listOf(patch[`${deletePrefix}${name}`]);
  const present = listOf(original).filter((item) => !deleted.includes(item));
  const order = patch[`${orderPrefix}${name}`];
  return mergeList(shape, mergeKey, present, listOf(change), isList(order) ? order : undefined);
}

/** The fields that a patch is about: directives name one behind their slash. */
function fieldNames(patch: Fields): readonly string[] {
  const names = Object.keys(patch).map((name) => name.replace(/^\$[A-Za-z]+\//, ''));
  return [...new Set(names)].filter((name) => !name.startsWith('$'));
}

function mergeFields(original: Fields, patch: Fields, merge: (name: string, original: unknown) => unknown): Fields {
  const retained = patch[retainKeys];
  const start = isList(retained)
    ? Object.entries(original).filter(([name]) => retained.includes(name))
    : Object.entries(original);
  const merged = new Map(start);
  for (const name of fieldNames(patch)) {
    const value = merge(name, merged.get(name));
    if (value === undefined) merged.delete(name);
    else merged.set(name, value);
  }
  return Object.fromEntries(merged);
}

function mergeValue(shape: Shape, original: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  if (patch[directive] === 'replace') return withoutDirectives(without(patch, directive));
  if (patch[directive] === 'delete') return {};
  if (patch[directive] !== undefined && patch[directive] !== 'merge') {
    throw badRequest(`Unknown patch type found: ${JSON.stringify(patch[directive])} in map`);
  }
  const from = isFields(original) ? original : {};
  if (shape.type === 'struct') return mergeFields(from, patch, (name, value) => mergeField(shape, name, value, patch));
  const values: Shape = shape.type === 'map' ? shape.values : { type: 'any' };
  return mergeFields(from, patch, (name, value) => {
    return patch[name] === null ? undefined : mergeValue(values, value, patch[name]);
  });
}

/**
 * Applies a strategic merge patch (k8s.io/apimachinery/pkg/util/strategicpatch); the object itself stays as it is.
 * @throws ApiError 400 when the patch is no object
 */
export function applyStrategicPatch(struct: StructShape, object: object, patch: unknown): unknown {
  if (!isFields(patch)) throw badRequest('error decoding patch: a strategic merge patch must be an object');
  return mergeValue(struct, object, patch);
}
