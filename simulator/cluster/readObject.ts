import { customContent, missingPaths } from './customContent.js';
import { decode, WrongTypeError } from './decode.js';
import type { Draft, Fields } from './objects.js';
import { contentOf, isFields } from './objects.js';
import { parseObject } from './requestBody.js';
import type { ResourceType } from './resources.js';
import { structOf, structOfKind } from './shape.js';
import { badRequest, invalid, unsupportedValue } from './statusErrors.js';

/** What a client wants an object to be, and what of it the type does not have. */
export interface ReadObject {
  readonly draft: Draft;
  readonly unknownFields: readonly string[];
}

const validations = ['Ignore', 'Strict', 'Warn'] as const;
/** What becomes of fields that a type does not have: they are dropped, told as warnings, or refused. */
export type FieldValidation = (typeof validations)[number];

/** @throws ApiError 422 */
export function parseFieldValidation(query: URLSearchParams, optionsKind: string): FieldValidation {
  const text = query.get('fieldValidation') ?? '';
  if (text === '') return 'Warn';
  const validation = validations.find((each) => each === text);
  if (validation !== undefined) return validation;
  throw invalid('meta.k8s.io', optionsKind, '', [unsupportedValue('fieldValidation', text, ['', ...validations])]);
}

function cannotBeHandled({ kind, version }: ResourceType, why: string): Error {
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}

function decodeBuiltIn(
  type: ResourceType,
  value: unknown,
): { readonly value: unknown; readonly unknownFields: readonly string[] } {
  try {
    return decode(structOfKind(type.kind), value);
  } catch (error) {
    if (error instanceof WrongTypeError) throw cannotBeHandled(type, error.message);
    throw error;
  }
}

function readCustom(draft: Draft): Pick<ReadObject, 'unknownFields'> & { readonly metadata: unknown } {
  const struct = structOf('V1ObjectMeta');
  if (struct === undefined) return { metadata: draft.metadata, unknownFields: [] };
  const { value, unknownFields } = decode(struct, draft.metadata);
  return { metadata: value, unknownFields: unknownFields.map((path) => `metadata.${path}`) };
}

const customTopLevel = ['spec', 'status'];

function prunedContent(type: ResourceType, content: Fields): Fields {
  const known = Object.fromEntries(Object.entries(content).filter(([name]) => customTopLevel.includes(name)));
  return customContent(type, known);
}

/**
 * Reads an object of that type, as the API server decodes it.
 * @throws ApiError 400
 */
export function readObject(type: ResourceType, value: unknown): ReadObject {
  if (!type.custom) {
    // What is of another kind is refused as such, before its fields are looked at.
    parseObject(type, isFields(value) ? { apiVersion: value['apiVersion'], kind: value['kind'] } : value);
    const decoded = decodeBuiltIn(type, value);
    return { draft: parseObject(type, decoded.value), unknownFields: decoded.unknownFields };
  }
  const draft = parseObject(type, value);
  const content = contentOf(draft);
  const pruned = prunedContent(type, content);
  const { apiVersion, kind } = draft;
  const { metadata, unknownFields } = readCustom(draft);
  return {
    draft: parseObject(type, { apiVersion, kind, metadata, ...pruned }),
    unknownFields: [...unknownFields, ...missingPaths(content, pruned)],
  };
}

export function strictDecodingError(unknownFields: readonly string[]): string {
  return `strict decoding error: ${unknownFields.map((path) => `unknown field "${path}"`).join(', ')}`;
}

/** @throws ApiError 400 when the validation is strict and there are any */
export function checkUnknownFields(
  type: ResourceType,
  { unknownFields }: ReadObject,
  validation: FieldValidation,
): void {
  if (validation === 'Strict' && unknownFields.length > 0) {
    throw cannotBeHandled(type, strictDecodingError(unknownFields));
  }
}

/** What the answer's Warning headers say (RFC 9110's predecessor 7234, 5.5). */
export function warningsOf({ unknownFields }: ReadObject, validation: FieldValidation): readonly string[] {
  return validation === 'Warn' ? unknownFields.map((path) => `299 - "unknown field \\"${path}\\""`) : [];
}
