import { qualified } from './resources.js';
import type { ResourceType } from './resources.js';

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** A meta/v1 Status, as it goes over the wire. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, string>>;
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** Why a request fails: what the client gets to read. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    readonly details?: StatusDetails,
    readonly metadata: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }

  get status(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.metadata,
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

export function successStatus(parts: { readonly details?: StatusDetails; readonly code?: number }): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', ...parts };
}

function detailsOf(group: string, kind: string, name: string): StatusDetails {
  return { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind };
}

export function notFound(type: ResourceType, name: string): ApiError {
  const { group, plural } = type;
  return new ApiError(
    404,
    'NotFound',
    `${qualified(group, plural)} "${name}" not found`,
    detailsOf(group, plural, name),
  );
}

/** 404 without a Status: no part of the API server feels responsible for the path. */
export class UnservedPathError extends ApiError {
  constructor() {
    super(404, 'NotFound', '404 page not found');
  }
}

/** The path names nothing that the API server has. */
export function noSuchPath(): ApiError {
  return new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});
}

export function alreadyExists(type: ResourceType, name: string, beingDeleted: boolean): ApiError {
  const { group, plural } = type;
  const message = `${qualified(group, plural)} "${name}" already exists`;
  return new ApiError(
    409,
    'AlreadyExists',
    beingDeleted ? `object is being deleted: ${message}` : message,
    detailsOf(group, plural, name),
  );
}

/** @param resource the plural, or the kind where the API server names that */
export function conflict(type: ResourceType, resource: string, name: string, why: string): ApiError {
  return new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(type.group, resource)} "${name}": ${why}`,
    detailsOf(type.group, resource, name),
  );
}

export function staleResourceVersion(type: ResourceType, name: string): ApiError {
  const why = 'the object has been modified; please apply your changes to the latest version and try again';
  return conflict(type, type.plural, name, why);
}

export function forbidden(group: string, resource: string, name: string, why: string): ApiError {
  return new ApiError(
    403,
    'Forbidden',
    `${qualified(group, resource)} "${name}" is forbidden: ${why}`,
    detailsOf(group, resource, name),
  );
}

/** One thing that is wrong with one field. */
export interface FieldError {
  readonly type:
    | 'FieldValueTypeInvalid'
    | 'FieldValueInvalid'
    | 'FieldValueRequired'
    | 'FieldValueForbidden'
    | 'FieldValueNotSupported';
  readonly field: string;
  readonly message: string;
}

export function invalidValue(field: string, value: unknown, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, message: `Invalid value: ${JSON.stringify(value)}: ${detail}` };
}

/** @param found the JSON type of what is there */
export function wrongTypeValue(field: string, found: string, wanted: string): FieldError {
  const message = `Invalid value: "${found}": ${field} in body must be of type ${wanted}: "${found}"`;
  return { type: 'FieldValueTypeInvalid', field, message };
}

/** For a rule on a whole object: the API server leaves such a value out. */
export function brokenRule(field: string, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, message: `Invalid value: ${detail}` };
}

export function requiredValue(field: string, detail?: string): FieldError {
  const message = detail === undefined ? 'Required value' : `Required value: ${detail}`;
  return { type: 'FieldValueRequired', field, message };
}

export function forbiddenValue(field: string, detail: string): FieldError {
  return { type: 'FieldValueForbidden', field, message: `Forbidden: ${detail}` };
}

export function unsupportedValue(field: string, value: string, supported: readonly string[]): FieldError {
  const list = supported.map((each) => JSON.stringify(each)).join(', ');
  return {
    type: 'FieldValueNotSupported',
    field,
    message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`,
  };
}

/** 422: the object is not as its type demands. Errors must not be empty. */
export function invalid(group: string, kind: string, name: string, errors: readonly FieldError[]): ApiError {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))];
  const all = texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`;
  const causes = errors.map(({ type, message, field }) => ({ reason: type, message, field }));
  return new ApiError(422, 'Invalid', `${qualified(group, kind)} "${name}" is invalid: ${all}`, {
    ...detailsOf(group, kind, name),
    causes,
  });
}

/** 422 without a word on what was wrong: all that the API server says of a JSON patch that does not apply. */
export function patchDoesNotApply(): ApiError {
  return new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, 'BadRequest', message);
}

export function unauthorized(): ApiError {
  return new ApiError(401, 'Unauthorized', 'Unauthorized');
}

export function methodNotAllowed(): ApiError {
  return new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

export function notAcceptable(): ApiError {
  const types = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
  return new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${types}`);
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new ApiError(415, 'UnsupportedMediaType', message);
}

export function requestTooLarge(limitBytes: number): ApiError {
  return new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limitBytes}`);
}

export function tooManyRequests(message: string, retryAfterSeconds: number, causes: readonly StatusCause[]): ApiError {
  return new ApiError(429, 'TooManyRequests', message, {
    causes,
    ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }),
  });
}

export function resourceVersionExpired(requested: number, oldest: number): ApiError {
  return new ApiError(410, 'Expired', `too old resource version: ${requested} (${oldest})`);
}

/** @param continueAnyway for the rest of the list in its present state */
export function continueExpired(continueAnyway: string): ApiError {
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
  return new ApiError(410, 'Expired', message, undefined, { continue: continueAnyway });
}

export function resourceVersionTooLarge(requested: number, current: number): ApiError {
  return new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${requested}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

/** 500 without a reason: what the API server answers for errors that it did not foresee. */
export function unforeseen(message: string): ApiError {
  return new ApiError(500, '', message);
}

/** 501: a real API server does this, the in-memory one does not. */
export function notImplemented(what: string): ApiError {
  return new ApiError(501, 'NotImplemented', `the in-memory API server does not implement ${what}`);
}
