import type { ResourceType, Subresource } from './resources.js';
import { apiVersionOf, resourceTypes } from './resources.js';

/** A group and its version, with what there is of it. Each group has one version here. */
interface GroupVersion {
  readonly group: string;
  readonly version: string;
  readonly types: readonly ResourceType[];
}

function groupVersions(): readonly GroupVersion[] {
  const found = new Map<string, ResourceType[]>();
  for (const type of resourceTypes) found.set(apiVersionOf(type), [...(found.get(apiVersionOf(type)) ?? []), type]);
  return [...found.values()].flatMap((types) => {
    const [first] = types;
    return first === undefined ? [] : [{ group: first.group, version: first.version, types }];
  });
}

const objectVerbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'] as const;

function subresourceOf(type: ResourceType, subresource: Subresource): object {
  const common = { name: `${type.plural}/${subresource}`, singularName: '', namespaced: type.namespaced };
  switch (subresource) {
    case 'status':
      return { ...common, kind: type.kind, verbs: ['get', 'patch', 'update'] };
    case 'eviction':
      return { ...common, group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] };
    case 'binding':
      return { ...common, kind: 'Binding', verbs: ['create'] };
  }
}

function resourcesOf(type: ResourceType): readonly object[] {
  const { plural, kind, namespaced, shortNames, categories } = type;
  const main = {
    name: plural,
    singularName: kind.toLowerCase(),
    namespaced,
    kind,
    verbs: objectVerbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
  return [main, ...type.subresources.map((subresource) => subresourceOf(type, subresource))];
}

function resourceList({ group, version, types }: GroupVersion): object {
  const groupVersion = group === '' ? version : `${group}/${version}`;
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: types.flatMap(resourcesOf) };
}

function apiVersions(host: string): object {
  const serverAddressByClientCIDRs = [{ clientCIDR: '0.0.0.0/0', serverAddress: host }];
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs };
}

function groupOf({ group, version }: GroupVersion): object {
  const versions = [{ groupVersion: `${group}/${version}`, version }];
  return { name: group, versions, preferredVersion: versions[0] };
}

function apiGroup(groupVersion: GroupVersion): object {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(groupVersion) };
}

/** The OpenAPI document of a group's version, as far as kubectl looks into it: which fieldValidation a PATCH has. */
function openApiOf({ types }: GroupVersion): object {
  const paths = types.map((type) => {
    const { group, version, kind, plural, namespaced } = type;
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const path = `${root}${namespaced ? '/namespaces/{namespace}' : ''}/${plural}/{name}`;
    const parameters = [{ name: 'fieldValidation', in: 'query', schema: { type: 'string', uniqueItems: true } }];
    const patch = {
      parameters,
      responses: { 200: { description: 'OK' } },
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group, version, kind },
    };
    return [path, { patch }] as const;
  });
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.36.0' },
    paths: Object.fromEntries(paths),
    components: { schemas: {} },
  };
}

const openApiRoot = '/openapi/v3';

/** By path, what the server tells of itself: made when somebody asks, as hardly anybody does. */
function documentsByPath(): ReadonlyMap<string, (host: string) => object> {
  const all = groupVersions();
  const groups = all.filter(({ group }) => group !== '');
  const named = all.map((each) => {
    const path = each.group === '' ? `api/${each.version}` : `apis/${each.group}/${each.version}`;
    return { path, each };
  });
  const openApiPaths = named.map(({ path }) => [path, { serverRelativeURL: `${openApiRoot}/${path}` }] as const);
  return new Map<string, (host: string) => object>([
    ['/api', apiVersions],
    ['/apis', () => ({ kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupOf) })],
    ...groups.map((each) => [`/apis/${each.group}`, () => apiGroup(each)] as const),
    ...named.map(({ path, each }) => [`/${path}`, () => resourceList(each)] as const),
    [openApiRoot, () => ({ paths: Object.fromEntries(openApiPaths) })],
    ...named.map(({ path, each }) => [`${openApiRoot}/${path}`, () => openApiOf(each)] as const),
  ]);
}

const documents = documentsByPath();

/**
 * The discovery or OpenAPI document at a path; undefined where there is none.
 * @param host under which the client has reached the server, e.g. `127.0.0.1:6443`
 */
export function discoveryDocument(pathname: string, host: string): object | undefined {
  return documents.get(pathname.replace(/\/$/, ''))?.(host);
}
