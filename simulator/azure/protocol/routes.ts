/** An ARM path, taken apart. Names keep the client's spelling; provider and types are lower case. */
export interface ArmPath {
  readonly subscriptionId: string;
  readonly resourceGroup: string | undefined;
  /** e.g. `microsoft.compute` */
  readonly provider: string | undefined;
  /** What follows the provider. */
  readonly rest: readonly string[];
}

/** What a path names, of all that the simulator knows. */
export type Route =
  | { readonly kind: 'virtualMachine'; readonly resourceGroup: string; readonly name: string }
  | { readonly kind: 'instanceView'; readonly resourceGroup: string; readonly name: string }
  | { readonly kind: 'virtualMachines'; readonly resourceGroup: string | undefined }
  | { readonly kind: 'operation'; readonly operationId: string }
  | { readonly kind: 'skus' }
  | { readonly kind: 'disk'; readonly resourceGroup: string; readonly name: string }
  | { readonly kind: 'networkInterface'; readonly resourceGroup: string; readonly name: string }
  | { readonly kind: 'networkInterfaces'; readonly resourceGroup: string | undefined }
  | { readonly kind: 'operationResult'; readonly operationId: string };

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // Not percent-encoded text: it is then a name that matches nothing.
    return segment;
  }
}

/** Takes `/subscriptions/{id}[/resourceGroups/{name}][/providers/{namespace}/...]` apart; undefined for any other path. */
export function parseArmPath(path: string): ArmPath | undefined {
  const segments = path.split('/').slice(1).map(decodeSegment);
  const at = (index: number): string => segments[index]?.toLowerCase() ?? '';
  const subscriptionId = segments[1];
  if (at(0) !== 'subscriptions' || subscriptionId === undefined || subscriptionId === '') return undefined;
  const resourceGroup = at(2) === 'resourcegroups' ? segments[3] : undefined;
  const next = resourceGroup === undefined ? 2 : 4;
  if (at(next) !== 'providers') {
    return segments.length === next ? { subscriptionId, resourceGroup, provider: undefined, rest: [] } : undefined;
  }
  return { subscriptionId, resourceGroup, provider: at(next + 1), rest: segments.slice(next + 2) };
}

/** `microsoft.compute/virtualmachines`: what an api-version belongs to. */
export function resourceTypeOf(path: ArmPath): string {
  const type = path.rest[0]?.toLowerCase() ?? '';
  return `${path.provider ?? ''}/${type}`;
}

function resolveLocation(path: ArmPath): Route | undefined {
  const operationId = path.rest[3];
  if (path.resourceGroup !== undefined || path.rest.length !== 4 || operationId === undefined) return undefined;
  const collection = path.rest[2]?.toLowerCase();
  if (path.provider === 'microsoft.compute' && collection === 'operations') return { kind: 'operation', operationId };
  if (path.provider === 'microsoft.network' && collection === 'operationresults') {
    return { kind: 'operationResult', operationId };
  }
  return undefined;
}

/** What the path names; undefined when the simulator does not know it. */
export function resolveRoute(path: ArmPath): Route | undefined {
  const { resourceGroup, rest } = path;
  const name = rest[1];
  switch (resourceTypeOf(path)) {
    case 'microsoft.compute/virtualmachines':
      if (name === undefined) return { kind: 'virtualMachines', resourceGroup };
      if (resourceGroup === undefined) return undefined;
      if (rest.length === 2) return { kind: 'virtualMachine', resourceGroup, name };
      return rest.length === 3 && rest[2]?.toLowerCase() === 'instanceview'
        ? { kind: 'instanceView', resourceGroup, name }
        : undefined;
    case 'microsoft.network/networkinterfaces':
      if (name === undefined) return { kind: 'networkInterfaces', resourceGroup };
      return resourceGroup === undefined || rest.length !== 2
        ? undefined
        : { kind: 'networkInterface', resourceGroup, name };
    case 'microsoft.compute/disks':
      return name === undefined || resourceGroup === undefined || rest.length !== 2
        ? undefined
        : { kind: 'disk', resourceGroup, name };
    case 'microsoft.compute/skus':
      return rest.length === 1 && resourceGroup === undefined ? { kind: 'skus' } : undefined;
    case 'microsoft.compute/locations':
    case 'microsoft.network/locations':
      return resolveLocation(path);
    default:
      return undefined;
  }
}
