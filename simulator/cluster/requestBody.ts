import type { IncomingMessage } from 'node:http';
import { z } from 'zod';

import type { Draft } from './objects.js';
import { parseDraft } from './objects.js';
import type { ResourceType } from './resources.js';
import { apiVersionOf, resourceTypes } from './resources.js';
import { badRequest, notImplemented, requestTooLarge, unsupportedMediaType } from './statusErrors.js';

const maxBodyBytes = 3 * 1024 * 1024;

/**
 * The whole body of a request.
 * @throws ApiError 413
 */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw requestTooLarge(maxBodyBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim() ?? '';
}

const otherFormats = ['application/yaml', 'application/vnd.kubernetes.protobuf'];

/** @throws ApiError 415, or 501 for the formats that only a real API server reads */
export function checkJsonContent(type: ResourceType, contentType: string | undefined): void {
  const format = mediaType(contentType);
  if (format === '' || format === 'application/json') return;
  const known = type.custom ? otherFormats.slice(0, 1) : otherFormats;
  if (known.includes(format)) throw notImplemented(`bodies of type ${format}`);
  throw unsupportedMediaType(['application/json', ...known]);
}

/** @throws ApiError 400 */
export function parseJson(body: string, wanted: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return value;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw badRequest(`the object provided is unrecognized (must be of type ${wanted}): ${why}`);
  }
}

/**
 * A body of a known shape.
 * @throws ApiError 400
 */
export function parseBody<T>(schema: z.ZodType<T>, value: unknown, wanted: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw badRequest(`${wanted} cannot be handled: ${z.prettifyError(parsed.error)}`);
}

/** What Go's conversion says of one known kind instead of another. */
function conversion(type: ResourceType, kind: string): string {
  const other = resourceTypes.find((each) => each.kind === kind && apiVersionOf(each) === apiVersionOf(type));
  if (type.custom || other === undefined) return '';
  const group = type.group === '' ? 'core' : type.group.split('.')[0];
  return `: converting (${type.version}.${kind}) to (${group}.${type.kind}): unknown conversion`;
}

/**
 * An object of that type, from a client's body or as the outcome of its patch.
 * @throws ApiError 400
 */
export function parseObject(type: ResourceType, value: unknown): Draft {
  const draft = parseWellFormed(type, value);
  const { kind = type.custom ? undefined : type.kind, apiVersion = type.custom ? undefined : apiVersionOf(type) } =
    draft;
  if (kind === undefined || apiVersion === undefined) {
    throw badRequest(`the object provided is unrecognized (must be of type ${type.kind}): couldn't get version/kind`);
  }
  if (kind !== type.kind) {
    throw badRequest(`${kind} in version "${apiVersion}" cannot be handled as a ${type.kind}${conversion(type, kind)}`);
  }
  if (apiVersion !== apiVersionOf(type)) {
    const expected = apiVersionOf(type);
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  return draft;
}

function parseWellFormed(type: ResourceType, value: unknown): Draft {
  try {
    return parseDraft(value);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    throw badRequest(
      `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${z.prettifyError(error)}`,
    );
  }
}
