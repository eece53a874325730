import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';

import { closerOf } from './closeServer.js';
import { errorMessage, UserError } from './errors.js';
import type { Log } from './log.js';

/** Something that knows whether it can do its work. */
export interface Probed {
  /** Why it cannot just now, in a line for people; undefined: it can. */
  whyNotReady(): Promise<string | undefined>;
}

export interface HealthServer {
  /** The port that it listens on, if it does. */
  readonly port: number | undefined;
  close(): Promise<void>;
}

/** Why a process is not ready: it starts, it stops, or what it runs cannot do its work. */
export async function whyNotReady(stopping: AbortSignal, running: Probed | undefined): Promise<string | undefined> {
  if (stopping.aborted) return 'stopping';
  return running === undefined ? 'starting' : await running.whyNotReady();
}

/**
 * Answers a container platform's probes: `GET /livez` 200 as long as the process answers at all; `GET /readyz` 200, or 503 and why not
 * in a line.
 * @param port undefined: it is served nowhere; 0: on any free port
 * @throws UserError when the port is not to be had
 */
export async function serveHealth(
  port: number | undefined,
  log: Log,
  readiness: () => Promise<string | undefined>,
): Promise<HealthServer> {
  if (port === undefined) return { port, close: () => Promise.resolve() };
  const server = createServer((request, response) => {
    void answer(request, response, readiness);
  });
  const close = closerOf(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(new UserError(`--health-port ${port}: ${errorMessage(error)}`));
    });
    server.listen(port, resolve);
  });
  const address = server.address();
  const listening = typeof address === 'object' && address !== null ? address.port : port;
  log.info({ port: listening }, 'health served');
  return { port: listening, close };
}

async function answer(
  { method, url }: IncomingMessage,
  response: ServerResponse,
  readiness: () => Promise<string | undefined>,
): Promise<void> {
  const send = (status: number, text: string): void => {
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
  };
  if (method !== 'GET' && method !== 'HEAD') {
    send(405, 'only GET');
    return;
  }
  const [path] = (url ?? '').split('?');
  if (path === '/livez') send(200, 'ok');
  else if (path === '/readyz') {
    const why = await readiness().catch(errorMessage);
    send(why === undefined ? 200 : 503, why ?? 'ok');
  } else send(404, 'there are /livez and /readyz');
}
