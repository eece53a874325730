import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

import type { AuditLog } from '../auditLog.js';
import { auditNow } from '../auditLog.js';
import type { ClusterAuditEntry, ClusterVerb } from './audit.js';
import type { ClusterFaultEffect, FaultPlan } from './faults.js';
import { injectedError, isWatchEffect } from './faults.js';
import { discoveryDocument } from './discovery.js';
import { asApiError, hasToken, negotiateFormat, sendError, sendJson } from './http.js';
import { isTrue, parseTimeoutSeconds, parseWatchStart } from './listOptions.js';
import type { ObjectStore } from './objectStore.js';
import { readBody } from './requestBody.js';
import type { Method, RequestInfo } from './requestInfo.js';
import { checkMethod, parseMethod, parsePath, verbOf } from './requestInfo.js';
import { handleResource } from './resourceHandler.js';
import type { ResourceAnswer } from './resourceRequest.js';
import { parseSelection } from './selection.js';
import { methodNotAllowed, notAcceptable, unauthorized } from './statusErrors.js';
import type { Column } from './tableColumns.js';
import { columnsOf } from './tableColumns.js';
import type { Watches } from './watches.js';
import { befall } from './watches.js';

/** What the handling of requests works on. */
export interface ApiServerParts {
  readonly token: string;
  readonly store: ObjectStore;
  readonly watches: Watches;
  readonly faults: FaultPlan;
  readonly audit: AuditLog<ClusterAuditEntry>;
}

/** One resource request, from its arrival to its audit entry. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  readonly method: Method;
  readonly verb: ClusterVerb;
  readonly userAgent: string;
  readonly startedAt: number;
}

const versionInfo = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.0',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: 'gc',
  platform: 'linux/amd64',
};

const healthPaths: readonly string[] = ['/healthz', '/livez', '/readyz'];

/** Answers the requests of Kubernetes' clients. */
export class ApiServer {
  constructor(private readonly parts: ApiServerParts) {}

  /** Answers one request; whatever goes wrong is told to the client as a Status. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that goes away early is no error of the server.
    response.on('error', () => undefined);
    try {
      const url = new URL(request.url ?? '/', 'https://localhost');
      if (this.#answersWithoutToken(url.pathname, response)) return;
      if (this.#answersDiscovery(request, response, url.pathname)) return;
      await this.#handleResource(request, response, url);
    } catch (error) {
      sendError(response, asApiError(error));
    }
  }

  #answersWithoutToken(pathname: string, response: ServerResponse): boolean {
    if (healthPaths.includes(pathname)) {
      response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8' }).end('ok');
      return true;
    }
    if (pathname !== '/version') return false;
    sendJson(response, 200, JSON.stringify(versionInfo));
    return true;
  }

  #answersDiscovery(request: IncomingMessage, response: ServerResponse, pathname: string): boolean {
    if (request.method !== 'GET') return false;
    const document = discoveryDocument(pathname, request.headers.host ?? '');
    if (document === undefined) return false;
    if (!hasToken(request, this.parts.token)) throw unauthorized();
    sendJson(response, 200, JSON.stringify(document));
    return true;
  }

  async #handleResource(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const startedAt = performance.now();
    const isAuthenticated = hasToken(request, this.parts.token);
    const method = parseMethod(request.method);
    if (method === undefined) throw isAuthenticated ? methodNotAllowed() : unauthorized();
    const info = parsePathFor(url.pathname, isAuthenticated);
    const query = url.searchParams;
    const verb = verbOf(info, method, isTrue(query, 'watch'));
    const userAgent = request.headers['user-agent'] ?? '';
    const exchange = { request, response, query, info, method, verb, userAgent, startedAt };
    try {
      if (!isAuthenticated) throw unauthorized();
      await this.#answer(exchange);
    } catch (error) {
      const apiError = asApiError(error);
      this.#record(exchange, apiError.code);
      sendError(response, apiError);
    }
  }

  async #answer(exchange: Exchange): Promise<void> {
    const { request, response, info, method, verb, userAgent } = exchange;
    const target = { verb, resource: info.type.plural, name: info.name, userAgent };
    const effect = this.parts.faults.take(target);
    const body = await readBody(request);
    if (effect?.kind === 'delay') await delay(effect.ms);
    if (effect?.kind === 'fail') throw injectedError(effect);
    if (effect?.kind === 'hang' || effect?.kind === 'reset') {
      this.#record(exchange, 0);
      if (effect.kind === 'reset') response.destroy();
      return;
    }
    checkMethod(info, method);
    const columns = columnsOf(info.type.kind);
    const format = negotiateFormat(request.headers.accept, columns !== undefined && method === 'GET');
    if (format === undefined) throw notAcceptable();
    const shown = format === 'table' ? columns : undefined;
    if (verb === 'watch') {
      this.#startWatch(exchange, shown, effect);
      return;
    }
    const answer = handleResource(this.parts.store, { ...exchange, headers: request.headers, body, columns: shown });
    this.#record(exchange, answer.code, answer);
    if (effect?.kind === 'lostResponse') response.destroy();
    else sendJson(response, answer.code, answer.json, answer.warnings);
  }

  #startWatch(
    exchange: Exchange,
    columns: readonly Column[] | undefined,
    effect: ClusterFaultEffect | undefined,
  ): void {
    const { query, info, response, verb, userAgent } = exchange;
    const selection = parseSelection(info.type, info.namespace, query);
    const start = parseWatchStart(query);
    const timeoutSeconds = parseTimeoutSeconds(query);
    this.#record(exchange, 200);
    const stream = this.parts.watches.start(
      {
        selection,
        ...start,
        columns,
        wantsBookmarks: isTrue(query, 'allowWatchBookmarks'),
        timeoutSeconds,
        target: { verb, resource: info.type.plural, name: info.name, userAgent },
      },
      response,
    );
    if (effect?.kind === 'lostResponse') stream.destroy();
    else if (effect !== undefined && isWatchEffect(effect)) befall(stream, effect);
  }

  #record(exchange: Exchange, status: number, answer?: ResourceAnswer): void {
    const { info, verb, userAgent, startedAt } = exchange;
    const { type, namespace, name, subresource } = info;
    const written = answer?.written;
    this.parts.audit.append({
      at: auditNow(),
      userAgent,
      verb,
      group: type.group,
      resource: type.plural,
      ...(subresource === undefined ? {} : { subresource }),
      ...(namespace === undefined ? {} : { namespace }),
      ...auditedName(name, written),
      status,
      ...(written === undefined ? {} : { object: written.object }),
      ...(written?.removed === true ? { removed: true } : {}),
      latencyMs: performance.now() - startedAt,
    });
  }
}

/** A create's name is known when it is done, the more so when it was generated. */
function auditedName(name: string | undefined, written: ResourceAnswer['written']): { readonly name?: string } {
  const known = name ?? written?.object.metadata.name;
  return known === undefined ? {} : { name: known };
}

function parsePathFor(pathname: string, isAuthenticated: boolean): RequestInfo {
  try {
    return parsePath(pathname);
  } catch (error) {
    // Nobody learns what there is without a token.
    throw isAuthenticated ? error : unauthorized();
  }
}
