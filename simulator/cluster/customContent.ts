import type { z } from 'zod';

import { nodeClaimRules, nodePoolRules } from './karpenterRules.js';
import { nodeClaimSchema, nodePoolSchema } from './karpenterSchemas.js';
import type { Fields } from './objects.js';
import { contentOf, isFields } from './objects.js';
import type { ResourceType } from './resources.js';
import { nodeClaimsType, nodePoolsType } from './resources.js';
import type { FieldError } from './statusErrors.js';
import { brokenRule, invalidValue, requiredValue, unsupportedValue, wrongTypeValue } from './statusErrors.js';

type Issue = z.core.$ZodIssue;

/** As the API server writes a path. */
function fieldOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((field, each) => {
    if (typeof each === 'number') return `${field}[${each}]`;
    return field === '' ? String(each) : `${field}.${String(each)}`;
  }, '');
}

function valueAt(content: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, each) => {
    if (typeof value !== 'object' || value === null) return undefined;
    const found: unknown = Reflect.get(value, each);
    return found;
  }, content);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value;
}

function lengthProblem(issue: Issue, field: string): string {
  if (issue.code === 'too_small') {
    return issue.origin === 'string'
      ? `${field} in body should be at least ${issue.minimum} chars long`
      : `${field} in body should be greater than or equal to ${issue.minimum}`;
  }
  if (issue.code !== 'too_big') return issue.message;
  if (issue.origin === 'string') return `may not be more than ${issue.maximum} bytes`;
  if (issue.origin === 'array') return `must have at most ${issue.maximum} items`;
  return `${field} in body should be less than or equal to ${issue.maximum}`;
}

/** What zod says is wrong, in the words of the API server. */
function fieldErrorOf(issue: Issue, content: Fields): FieldError {
  const field = fieldOf(issue.path);
  const value = valueAt(content, issue.path);
  if (value === undefined) return requiredValue(field);
  if (issue.code === 'invalid_type') {
    return wrongTypeValue(field, typeOf(value), issue.expected === 'int' ? 'integer' : issue.expected);
  }
  if (issue.code === 'invalid_value') return unsupportedValue(field, textOf(value), issue.values.map(String));
  if (issue.code !== 'invalid_format') return invalidValue(field, value, lengthProblem(issue, field));
  const { format, pattern = '' } = issue;
  return format === 'regex'
    ? invalidValue(field, value, `${field} in body should match '${pattern.slice(1, -1).replaceAll('\\/', '/')}'`)
    : invalidValue(field, value, `${field} in body must be of type ${format}: ${JSON.stringify(value)}`);
}

/** With one of these the API server does not go on to a CRD's rules. */
const blocking: readonly FieldError['type'][] = [
  'FieldValueTypeInvalid',
  'FieldValueRequired',
  'FieldValueNotSupported',
];
const unchecked =
  'null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

function errorsBy<T>(
  schema: z.ZodType<T>,
  rules: (content: T, before: T | undefined) => readonly FieldError[],
  content: Fields,
  before: Fields | undefined,
): readonly FieldError[] {
  const parsed = schema.safeParse(content);
  if (!parsed.success) {
    const errors = parsed.error.issues.map((issue) => fieldErrorOf(issue, content));
    const isBlocked = errors.some(({ type }) => blocking.includes(type));
    return isBlocked ? [...errors, brokenRule('<nil>', unchecked)] : errors;
  }
  const parsedBefore = before === undefined ? undefined : schema.safeParse(before);
  return rules(parsed.data, parsedBefore?.success === true ? parsedBefore.data : undefined);
}

/**
 * What the CRD of a type refuses in an object.
 * @param before the object as it was; undefined for a new one
 */
export function customErrors(type: ResourceType, object: Fields, before: Fields | undefined): readonly FieldError[] {
  const contentBefore = before === undefined ? undefined : contentOf(before);
  if (type === nodePoolsType) return errorsBy(nodePoolSchema, nodePoolRules, contentOf(object), contentBefore);
  if (type === nodeClaimsType) return errorsBy(nodeClaimSchema, nodeClaimRules, contentOf(object), contentBefore);
  return [];
}

function schemaOf(type: ResourceType): z.ZodType<Fields> | undefined {
  if (type === nodePoolsType) return nodePoolSchema;
  return type === nodeClaimsType ? nodeClaimSchema : undefined;
}

/** The content with the defaults of its CRD and without fields that this does not have; one that is not valid stays as it is. */
export function customContent(type: ResourceType, content: Fields): Fields {
  const parsed = schemaOf(type)?.safeParse(content);
  return parsed?.success === true ? parsed.data : content;
}

/** The paths that are in the first value and not in the second, as the API server writes them. */
export function missingPaths(value: unknown, kept: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => missingPaths(item, valueAt(kept, [index]), `${path}[${index}]`));
  }
  if (!isFields(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const fieldPath = path === '' ? name : `${path}.${name}`;
    return isFields(kept) && Object.hasOwn(kept, name) ? missingPaths(field, kept[name], fieldPath) : [fieldPath];
  });
}
