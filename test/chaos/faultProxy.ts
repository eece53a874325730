import { KubeConfig } from '@kubernetes/client-node';
import { once } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Agent, createServer, request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

import type { Access } from '../../demo/controlPlane/access.js';
import { closerOf } from '../../runtime/closeServer.js';
import { AuditLog, auditNow } from '../../simulator/auditLog.js';
import { createServerCertificate } from '../../simulator/certificates.js';
import type { ClusterAuditEntry, ClusterVerb } from '../../simulator/cluster/audit.js';
import type { ClusterFault, ClusterFaultEffect } from '../../simulator/cluster/faults.js';
import { FaultPlan, injectedError } from '../../simulator/cluster/faults.js';
import { sendError } from '../../simulator/cluster/http.js';
import { kubeConfigYaml } from '../../simulator/cluster/kubeConfigYaml.js';
import { isTrue } from '../../simulator/cluster/listOptions.js';
import type { RequestInfo } from '../../simulator/cluster/requestInfo.js';
import { parseMethod, parsePath, verbOf } from '../../simulator/cluster/requestInfo.js';
import { ApiError } from '../../simulator/cluster/statusErrors.js';

/** A server before a real API server that lets requests fail as the in-memory one does. */
export interface FaultProxy {
  readonly kubeConfig: KubeConfig;
  /** Requests that named a resource: noted when their work is done and before anybody is told. */
  readonly audit: AuditLog<ClusterAuditEntry>;
  /** Requests that the API server has never seen. */
  readonly refused: readonly ClusterAuditEntry[];
  addFault(fault: ClusterFault): void;
  close(): Promise<void>;
}

/** A request that names a resource. */
interface Target {
  readonly info: RequestInfo;
  readonly verb: ClusterVerb;
  readonly resource: string;
  readonly name: string | undefined;
  readonly userAgent: string;
}

interface OpenWatch {
  readonly target: Target;
  readonly upstream: IncomingMessage;
  readonly response: ServerResponse;
}

/** Between two connections each has its own. */
const connectionHeaders: readonly string[] = ['connection', 'keep-alive', 'transfer-encoding', 'content-length'];

function targetOf({ url = '/', method, headers }: IncomingMessage): Target | undefined {
  const { pathname, searchParams } = new URL(url, 'https://localhost');
  const parsedMethod = parseMethod(method);
  if (parsedMethod === undefined) return undefined;
  try {
    const info = parsePath(pathname);
    const verb = verbOf(info, parsedMethod, isTrue(searchParams, 'watch'));
    return { info, verb, resource: info.type.plural, name: info.name, userAgent: headers['user-agent'] ?? '' };
  } catch (error) {
    // Discovery, health, and what the in-memory one does not know.
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

function headersOf(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !connectionHeaders.includes(name)));
}

class Proxy {
  readonly audit = new AuditLog<ClusterAuditEntry>();
  readonly refused: ClusterAuditEntry[] = [];
  readonly #faults = new FaultPlan();
  readonly #watches = new Set<OpenWatch>();
  readonly #agent: Agent;

  constructor(private readonly access: Access) {
    this.#agent = new Agent({ keepAlive: true, ca: access.caPem });
  }

  addFault(fault: ClusterFault): void {
    this.#faults.add(fault);
    for (const watch of this.#watches) this.#disturb(watch, this.#faults.take(watch.target));
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = performance.now();
    const target = targetOf(request);
    const effect = target === undefined ? undefined : this.#faults.take(target);
    const body = await buffer(request);
    if (effect?.kind === 'delay') await delay(effect.ms);
    if (target !== undefined && this.#refuses(target, response, effect, startedAt)) return;
    const upstream = await this.#ask(request, body, response);
    if (target?.verb === 'watch' && upstream.statusCode === 200) {
      this.#record(target, 200, startedAt);
      this.#follow({ target, upstream, response }, effect);
      return;
    }
    const answer = await buffer(upstream);
    if (target !== undefined) this.#record(target, upstream.statusCode ?? 0, startedAt);
    if (effect?.kind === 'lostResponse') response.destroy();
    else response.writeHead(upstream.statusCode ?? 502, headersOf(upstream.headers)).end(answer);
  }

  close(): void {
    for (const { upstream } of this.#watches) upstream.destroy();
    this.#agent.destroy();
  }

  #refuses(
    target: Target,
    response: ServerResponse,
    effect: ClusterFaultEffect | undefined,
    startedAt: number,
  ): boolean {
    if (effect?.kind !== 'fail' && effect?.kind !== 'hang' && effect?.kind !== 'reset') return false;
    this.refused.push(this.#record(target, effect.kind === 'fail' ? effect.status : 0, startedAt));
    if (effect.kind === 'fail') sendError(response, injectedError(effect));
    if (effect.kind === 'reset') response.destroy();
    return true;
  }

  /** Passes the request on; whoever asked may go away meanwhile. */
  #ask(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<IncomingMessage> {
    const length = body.length === 0 ? {} : { 'content-length': body.length };
    const outgoing = httpsRequest(this.access.endpoint + (request.url ?? '/'), {
      method: request.method,
      headers: { ...headersOf(request.headers), ...length },
      agent: this.#agent,
    });
    response.once('close', () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    outgoing.end(body);
    return new Promise((resolve, reject) => {
      outgoing.on('response', resolve);
      outgoing.on('error', reject);
    });
  }

  #follow(watch: OpenWatch, effect: ClusterFaultEffect | undefined): void {
    const { upstream, response } = watch;
    response.writeHead(200, headersOf(upstream.headers));
    response.flushHeaders();
    upstream.pipe(response);
    this.#watches.add(watch);
    response.once('close', () => {
      this.#watches.delete(watch);
      upstream.destroy();
    });
    if (effect?.kind === 'lostResponse') response.destroy();
    this.#disturb(watch, effect);
  }

  #disturb({ upstream, response }: OpenWatch, effect: ClusterFaultEffect | undefined): void {
    if (effect?.kind !== 'silence' && effect?.kind !== 'end') return;
    upstream.unpipe(response);
    if (effect.kind === 'end') response.end();
  }

  #record({ info, verb, userAgent }: Target, status: number, startedAt: number): ClusterAuditEntry {
    const { type, namespace, name, subresource } = info;
    const entry: ClusterAuditEntry = {
      at: auditNow(),
      userAgent,
      verb,
      group: type.group,
      resource: type.plural,
      ...(subresource === undefined ? {} : { subresource }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
      status,
      latencyMs: performance.now() - startedAt,
    };
    this.audit.append(entry);
    return entry;
  }
}

/** Starts a proxy on loopback before that API server; whoever uses it needs the same token. */
export async function startFaultProxy(access: Access): Promise<FaultProxy> {
  const { caPem, certPem, keyPem } = await createServerCertificate('fault-proxy');
  const proxy = new Proxy(access);
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    response.on('error', () => undefined);
    // The client has gone, or the API server has: the connection is all that can tell.
    proxy.handle(request, response).catch(() => response.destroy());
  });
  const closeServer = closerOf(server);
  server.keepAliveTimeout = 120_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(
    kubeConfigYaml({ endpoint: `https://127.0.0.1:${address.port}`, caPem, token: access.token }),
  );
  return {
    kubeConfig,
    audit: proxy.audit,
    refused: proxy.refused,
    addFault(fault) {
      proxy.addFault(fault);
    },
    async close() {
      proxy.close();
      await closeServer();
    },
  };
}
