import { readFile } from 'node:fs/promises';

import type { AuditEvent } from '../../../demo/controlPlane/auditEvents.js';
import { parseAuditLog } from '../../../demo/controlPlane/auditEvents.js';

/** A request as the API server's authorizer saw it, and what became of it. */
export interface AuditedRequest {
  readonly verb: string;
  readonly apiGroup: string;
  /** With its subresource, as `pods/eviction`. */
  readonly resource: string;
  /** Undefined: of a cluster-scoped object, or in all namespaces. */
  readonly namespace: string | undefined;
  /** Undefined where the request names no object. */
  readonly name: string | undefined;
  /** The HTTP status. */
  readonly code: number;
  /** Why it was refused, in the API server's words. */
  readonly message: string;
}

function readEvent({ verb, objectRef, responseStatus }: AuditEvent): AuditedRequest {
  const { apiGroup = '', resource = '', subresource, namespace, name } = objectRef ?? {};
  return {
    verb,
    apiGroup,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    // Requests for a Namespace say its name twice, though it is in none itself.
    namespace: resource === 'namespaces' ? undefined : namespace,
    name,
    code: responseStatus?.code ?? 0,
    message: responseStatus?.message ?? '',
  };
}

/** The requests of one user so far, in the order of their ends; a watch counts at its beginning and at its end. */
export async function readAuditLog(path: string, user: string): Promise<readonly AuditedRequest[]> {
  const text = await readFile(path, 'utf8');
  // Most of the log is not about this user, and need not be parsed.
  const mention = JSON.stringify(user);
  const lines = text.split(/(?<=\n)/).filter((line) => line.includes(mention));
  return parseAuditLog(lines.join(''))
    .filter((event) => event.user.username === user)
    .map(readEvent);
}
