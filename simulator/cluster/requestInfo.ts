import type { ClusterVerb } from './audit.js';
import type { ResourceType, Subresource } from './resources.js';
import { findResourceType } from './resources.js';
import { methodNotAllowed, noSuchPath, notImplemented, UnservedPathError } from './statusErrors.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a request is about, from its path. */
export interface RequestInfo {
  readonly type: ResourceType;
  /** Absent: a cluster-scoped resource, or all namespaces. */
  readonly namespace: string | undefined;
  /** Absent: the collection. */
  readonly name: string | undefined;
  readonly subresource: Subresource | undefined;
}

interface PathParts {
  readonly group: string;
  readonly version: string;
  readonly rest: readonly string[];
}

function splitPath(pathname: string): PathParts {
  const [root, ...segments] = pathname.split('/').slice(1).map(decodeURIComponent);
  if (root === 'api') {
    const [version = '', ...rest] = segments;
    return { group: '', version, rest };
  }
  if (root !== 'apis') throw new UnservedPathError();
  const [group = '', version = '', ...rest] = segments;
  return { group, version, rest };
}

/** Groups of which a real API server has more resources than this one. */
function isBuiltInGroup(group: string): boolean {
  return !group.includes('.') || group.endsWith('.k8s.io');
}

function findType({ group, version }: PathParts, plural: string): ResourceType {
  const type = findResourceType(group, version, plural);
  if (type !== undefined) return type;
  throw isBuiltInGroup(group)
    ? notImplemented(`${plural} of ${group === '' ? 'core' : group}/${version}`)
    : new UnservedPathError();
}

function parseSubresource(type: ResourceType, name: string | undefined): Subresource | undefined {
  if (name === undefined) return undefined;
  const subresource = type.subresources.find((each) => each === name);
  if (subresource !== undefined) return subresource;
  throw type.custom && name !== 'scale' ? new UnservedPathError() : notImplemented(`${type.plural}/${name}`);
}

/**
 * Reads the path of a resource request.
 * @throws ApiError 404 for a path that no API server has, 501 for one that only a real API server has
 */
export function parsePath(pathname: string): RequestInfo {
  const parts = splitPath(pathname);
  const { rest } = parts;
  if (rest[0] === 'watch') throw notImplemented('the deprecated watch paths');
  // `namespaces/x` is an object, `namespaces/x/pods` leads to others.
  const isNamespaced = rest[0] === 'namespaces' && rest.length > 2;
  if (isNamespaced && (rest[2] === 'status' || rest[2] === 'finalize')) throw notImplemented(`namespaces/${rest[2]}`);
  const [plural = '', name, subresource, ...tooMuch] = isNamespaced ? rest.slice(2) : rest;
  const type = findType(parts, plural);
  const needsNamespace = type.namespaced && name !== undefined;
  if (tooMuch.length > 0 || name === '' || (isNamespaced && !type.namespaced) || (needsNamespace && !isNamespaced)) {
    throw noSuchPath();
  }
  return {
    type,
    namespace: isNamespaced ? rest[1] : undefined,
    name,
    subresource: parseSubresource(type, subresource),
  };
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export function parseMethod(text: string | undefined): Method | undefined {
  return methods.find((method) => method === text);
}

/** What the method asks for; whether the resource allows it is another question. */
export function verbOf(info: RequestInfo, method: Method, isWatch: boolean): ClusterVerb {
  switch (method) {
    case 'GET':
      if (info.name !== undefined) return 'get';
      return isWatch ? 'watch' : 'list';
    case 'POST':
      if (info.subresource === 'eviction') return 'evict';
      return info.subresource === 'binding' ? 'bind' : 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return 'delete';
  }
}

function allowedMethods({ type, namespace, name, subresource }: RequestInfo): readonly Method[] {
  if (subresource === 'status') return ['GET', 'PUT', 'PATCH'];
  if (subresource !== undefined) return ['POST'];
  if (name !== undefined) return ['GET', 'PUT', 'PATCH', 'DELETE'];
  return type.namespaced && namespace === undefined ? ['GET'] : ['GET', 'POST', 'DELETE'];
}

/** @throws ApiError 405 */
export function checkMethod(info: RequestInfo, method: Method): void {
  if (!allowedMethods(info).includes(method)) throw methodNotAllowed();
}
