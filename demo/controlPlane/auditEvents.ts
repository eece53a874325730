import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';

import { until } from '../until.js';
import { sendRaw } from './access.js';
import type { ControlPlane } from './controlPlane.js';

/** RFC 3339 in microseconds, to wall-clock milliseconds with a fraction. */
function parseMicroTime(text: string): number {
  const [, microseconds = '0'] = /\.\d{3}(\d{3})/.exec(text) ?? [];
  return Date.parse(text) + Number(microseconds) / 1000;
}

const microTime = z.string().transform(parseMicroTime);

const auditEventSchema = z.object({
  auditID: z.string(),
  stage: z.enum(['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic']),
  verb: z.string(),
  user: z.object({ username: z.string() }).default({ username: '' }),
  userAgent: z.string().default(''),
  objectRef: z
    .object({
      apiGroup: z.string().default(''),
      resource: z.string(),
      subresource: z.string().optional(),
      namespace: z.string().optional(),
      name: z.string().optional(),
    })
    .optional(),
  responseStatus: z.object({ code: z.number().default(0), message: z.string().default('') }).optional(),
  requestObject: z.unknown().optional(),
  responseObject: z.unknown().optional(),
  requestReceivedTimestamp: microTime,
  stageTimestamp: microTime,
});
/** As much of audit.k8s.io/v1 as we read; instants are wall-clock milliseconds with a fraction. */
export type AuditEvent = z.infer<typeof auditEventSchema>;

/** The Events of an audit log's text; what follows the last end of a line is still being written. */
export function parseAuditLog(text: string): AuditEvent[] {
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  return lines.filter((line) => line !== '').map((line) => auditEventSchema.parse(JSON.parse(line)));
}

const writtenTimeoutMs = 10_000;

/** The Events of all requests that were answered before this call: they are written a little later than answered. */
export async function readAuditEvents({
  access,
  auditLogPath,
}: Pick<ControlPlane, 'access' | 'auditLogPath'>): Promise<readonly AuditEvent[]> {
  // The API server takes over the id, so that we know our own request, which is the last of them.
  const auditID = randomUUID();
  await sendRaw(access, 'GET', '/api/v1/namespaces/default', { headers: { 'Audit-ID': auditID } });
  const text = await until('the audit log has all that was asked', writtenTimeoutMs, async () => {
    const written = await readFile(auditLogPath, 'utf8');
    return written.slice(0, written.lastIndexOf('\n') + 1).includes(auditID) ? written : undefined;
  });
  return parseAuditLog(text);
}
