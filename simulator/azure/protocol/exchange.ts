import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { AuditLog } from '../../auditLog.js';
import { auditNow } from '../../auditLog.js';
import type { AzureAuditEntry, RequestEntry } from '../audit.js';
import type { ArmAnswer, ArmRequest } from './armRequest.js';
import { tracingHeaders } from './responseHeaders.js';

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) {
    if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** One request and its answer, or what comes instead of one: each end is written into the audit, once. */
export class Exchange {
  readonly #startedAt: number;
  /** The virtual machine that it is about, for the audit. */
  virtualMachine: string | undefined;

  private constructor(
    readonly request: ArmRequest,
    readonly response: ServerResponse,
    private readonly audit: AuditLog<AzureAuditEntry>,
    private readonly location: string,
    startedAt: number,
  ) {
    this.#startedAt = startedAt;
  }

  /** Reads the request to its end. Rejects when the client goes away before. */
  static async read(
    incoming: IncomingMessage,
    response: ServerResponse,
    audit: AuditLog<AzureAuditEntry>,
    location: string,
  ): Promise<Exchange> {
    const startedAt = performance.now();
    const origin = `https://${incoming.headers.host ?? 'localhost'}`;
    const [path = '/', ...query] = (incoming.url ?? '/').split('?');
    const request: ArmRequest = {
      id: randomUUID(),
      method: incoming.method ?? 'GET',
      origin,
      path,
      query: new URLSearchParams(query.join('?')),
      headers: incoming.headers,
      body: await readBody(incoming),
    };
    return new Exchange(request, response, audit, location, startedAt);
  }

  answer({ status, body, headers }: ArmAnswer): void {
    this.#record(status);
    const content = body === undefined ? '' : JSON.stringify(body);
    const contentHeaders = body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' };
    const length = status === 204 ? {} : { 'content-length': String(Buffer.byteLength(content)) };
    const correlation = this.request.headers['x-ms-correlation-request-id'];
    const correlationId = typeof correlation === 'string' ? correlation : undefined;
    this.response.writeHead(status, {
      ...tracingHeaders(this.request.id, correlationId, this.location),
      ...contentHeaders,
      ...length,
      ...headers,
    });
    this.response.end(content);
  }

  /** Never answers; the socket stays open until the client or the server gives up. */
  hang(): void {
    this.#record('hung');
  }

  /** Destroys the socket in place of an answer. */
  reset(): void {
    this.#record('reset');
    this.response.destroy();
  }

  #record(status: RequestEntry['status']): void {
    const { id, method, path, headers } = this.request;
    this.audit.append({
      kind: 'request',
      at: auditNow(),
      id,
      method,
      path,
      virtualMachine: this.virtualMachine,
      status,
      userAgent: headers['user-agent'] ?? '',
      durationMs: performance.now() - this.#startedAt,
    });
  }
}
