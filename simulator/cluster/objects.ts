import { z } from 'zod';

/** Anything that JSON calls an object. */
export type Fields = Readonly<Record<string, unknown>>;

const stringMap = z.record(z.string(), z.string());

const draftMetadataSchema = z.looseObject({
  name: z.string().optional(),
  generateName: z.string().optional(),
  namespace: z.string().optional(),
  uid: z.string().optional(),
  resourceVersion: z.string().optional(),
  labels: stringMap.optional(),
  annotations: stringMap.optional(),
  finalizers: z.array(z.string()).optional(),
  ownerReferences: z.array(z.looseObject({ uid: z.string() })).optional(),
});

const draftSchema = z.looseObject({
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  metadata: draftMetadataSchema.default({}),
});

/** An object as a client sent it: well formed, not yet checked against its type. */
export type Draft = z.infer<typeof draftSchema>;

export interface ObjectMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly generation?: number;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly finalizers?: string[];
  readonly ownerReferences?: { uid: string; [field: string]: unknown }[];
  readonly [other: string]: unknown;
}

/** An object as the API server keeps it. Frozen in depth as soon as it is stored. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata;
  readonly [field: string]: unknown;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** The value at a path of field names, or undefined where the path ends early. */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    if (!isFields(current)) return undefined;
    current = current[name];
  }
  return current;
}

/** The text at a path of field names; the empty text, as Go has it, where there is none. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = fieldAt(value, ...path);
  return typeof found === 'string' ? found : '';
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = fieldAt(value, ...path);
  return isList(found) ? found : [];
}

/** The fields but for some. */
export function without(fields: Fields, ...names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

/** An object's own fields: what is neither type nor metadata. */
export function contentOf(object: Fields): Fields {
  return without(object, 'apiVersion', 'kind', 'metadata');
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (isList(value)) return value.length === 0;
  return isFields(value) && Object.keys(value).length === 0;
}

/**
 * Reads what a client sent as an object. Empty metadata fields vanish, as they do when a Go struct is written.
 * @throws ZodError when the metadata has fields of a wrong type
 */
export function parseDraft(value: unknown): Draft {
  if (!isFields(value) || !isFields(value['metadata'])) return draftSchema.parse(value);
  const metadata = Object.entries(value['metadata']).filter(([, field]) => !isEmpty(field));
  return draftSchema.parse({ ...value, metadata: Object.fromEntries(metadata) });
}

/** Freezes a JSON value in depth. What is frozen already was frozen in depth: shared parts cost nothing. */
export function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
}

/** RFC 3339 in whole seconds, as metav1.Time is written. */
export function timestampAt(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

const secondsField = /(Time|At|Timestamp|^timeAdded)$/;
const microTimeFields = new Set(['eventTime', 'lastObservedTime', 'renewTime', 'acquireTime']);
const timeWithFraction = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\.\d+Z$/;

function normalizedField(name: string, value: unknown): unknown {
  if (typeof value !== 'string' || !secondsField.test(name) || microTimeFields.has(name)) return normalized(value);
  return value.replace(timeWithFraction, '$1Z');
}

/** What remains of an object's own fields, see {@link normalized}; the fields themselves stay even when empty. */
export function normalizedContent(content: Fields): Fields {
  return Object.fromEntries(Object.entries(content).map(([name, value]) => [name, normalized(value)]));
}

/** What remains of a value after Go's structs have read and written it: no nulls, no empty lists, whole seconds. */
function normalized(value: unknown): unknown {
  if (isList(value)) return value.map(normalized);
  if (!isFields(value)) return value;
  const kept: [string, unknown][] = [];
  for (const [name, field] of Object.entries(value)) {
    if (field === null || (isList(field) && field.length === 0)) continue;
    kept.push([name, normalizedField(name, field)]);
  }
  return Object.fromEntries(kept);
}
