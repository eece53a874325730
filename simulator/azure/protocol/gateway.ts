import { timingSafeEqual } from 'node:crypto';

import { ArmError, gatewayError, gatewayHeaders, notSimulated } from './armError.js';
import type { ArmRequest } from './armRequest.js';
import type { ArmPath, Route } from './routes.js';
import { parseArmPath, resolveRoute, resourceTypeOf } from './routes.js';

export interface GatewayOptions {
  readonly subscriptionId: string;
  readonly resourceGroups: readonly string[];
  readonly location: string;
  readonly token: string;
}

interface VersionRange {
  readonly oldest: string;
  readonly newest: string;
}

/** API versions are dates: what lies between these is answered alike. Implicit network interfaces came with 2020-12-01. */
const supportedVersions: Readonly<Record<string, VersionRange>> = {
  'microsoft.compute/virtualmachines': { oldest: '2021-03-01', newest: '2026-03-01' },
  'microsoft.compute/locations': { oldest: '2021-03-01', newest: '2026-03-01' },
  'microsoft.compute/disks': { oldest: '2020-12-01', newest: '2026-03-01' },
  'microsoft.compute/skus': { oldest: '2021-07-01', newest: '2026-03-01' },
  'microsoft.network/networkinterfaces': { oldest: '2020-11-01', newest: '2026-03-01' },
  'microsoft.network/locations': { oldest: '2020-11-01', newest: '2026-03-01' },
};

function unauthorized(code: string, message: string): ArmError {
  return new ArmError(401, code, message, {
    headers: {
      ...gatewayHeaders,
      'www-authenticate': `Bearer authorization_uri="https://login.microsoftonline.com/common", error="invalid_token", error_description="${message}"`,
    },
  });
}

/** @throws ArmError 401 unless the request carries the one token that is accepted */
export function checkBearerToken(request: ArmRequest, token: string): void {
  const given = request.headers.authorization;
  if (given === undefined) {
    throw unauthorized('AuthenticationFailed', "Authentication failed. The 'Authorization' header is missing.");
  }
  const expected = Buffer.from(`Bearer ${token}`);
  const actual = Buffer.from(given);
  if (expected.length !== actual.length || !timingSafeEqual(expected, actual)) {
    throw unauthorized('InvalidAuthenticationToken', 'The access token is invalid.');
  }
}

function checkApiVersion(request: ArmRequest, path: ArmPath, location: string): void {
  const version = request.query.get('api-version') ?? '';
  if (version === '') {
    throw gatewayError(
      400,
      'MissingApiVersionParameter',
      'The api-version query parameter (?api-version=) is required for all requests.',
    );
  }
  const range = supportedVersions[resourceTypeOf(path)];
  if (!/^\d{4}-\d{2}-\d{2}(-[a-z]+)?$/i.test(version)) {
    const supported = range === undefined ? '' : ` The supported versions are '${range.oldest}' to '${range.newest}'.`;
    throw gatewayError(400, 'InvalidApiVersionParameter', `The api-version '${version}' is invalid.${supported}`);
  }
  if (path.provider === undefined || range === undefined) return;
  if (version.length === range.newest.length && version >= range.oldest && version <= range.newest) return;
  throw gatewayError(
    400,
    'NoRegisteredProviderFound',
    `No registered resource provider found for location '${location}' and API version '${version}' for type '${path.rest[0] ?? ''}'. The supported api-versions are '${range.oldest}' to '${range.newest}'. The supported locations are '${location}'.`,
  );
}

/** ARM's own checks, in ARM's order: token, path, api-version, subscription, resource group. */
export class Gateway {
  constructor(private readonly options: GatewayOptions) {}

  /** What the request is about. @throws ArmError when ARM would refuse it, or the simulator does not know it */
  admit(request: ArmRequest): Route {
    const { token, location, subscriptionId } = this.options;
    checkBearerToken(request, token);
    const path = parseArmPath(request.path);
    if (path === undefined) {
      throw gatewayError(404, 'InvalidResourcePath', `No resource is addressed by the path '${request.path}'.`);
    }
    checkApiVersion(request, path, location);
    if (path.subscriptionId.toLowerCase() !== subscriptionId.toLowerCase()) {
      throw gatewayError(404, 'SubscriptionNotFound', `The subscription '${path.subscriptionId}' could not be found.`);
    }
    if (path.resourceGroup !== undefined && this.findResourceGroup(path.resourceGroup) === undefined) {
      throw gatewayError(404, 'ResourceGroupNotFound', `Resource group '${path.resourceGroup}' could not be found.`);
    }
    const route = resolveRoute(path);
    if (route === undefined) throw notSimulated(`${request.method} ${request.path}`);
    return route;
  }

  /** The resource group as it is spelled where it was made. */
  findResourceGroup(name: string): string | undefined {
    const wanted = name.toLowerCase();
    return this.options.resourceGroups.find((group) => group.toLowerCase() === wanted);
  }
}
