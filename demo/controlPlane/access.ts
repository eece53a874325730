import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';

/** How one gets to an API server; without a token one is nobody there. */
export interface AnonymousAccess {
  readonly endpoint: string;
  readonly caPem: string;
  readonly token?: string | undefined;
}

/** How one gets to an API server as somebody. */
export interface Access extends AnonymousAccess {
  readonly token: string;
}

export interface RawAnswer {
  readonly code: number;
  /** Parsed where it is JSON, else the text. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface RawRequest {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the text says as JSON, or the text where it is none. */
export function parsed(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return value;
  } catch {
    return body;
  }
}

/** A request that no client library has touched. */
export function sendRaw(
  access: AnonymousAccess,
  method: string,
  path: string,
  request: RawRequest = {},
): Promise<RawAnswer> {
  // Node.js sends none with DELETE by itself, and a body without it is not read.
  const length = request.body === undefined ? {} : { 'Content-Length': Buffer.byteLength(request.body) };
  const authorization = access.token === undefined ? {} : { Authorization: `Bearer ${access.token}` };
  const headers = { ...authorization, ...length, ...request.headers };
  const options = { method, ca: access.caPem, agent: false, headers } as const;
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(access.endpoint + path, options, (response) => {
      text(response).then((body) => {
        resolve({ code: response.statusCode ?? 0, body: parsed(body), headers: response.headers });
      }, reject);
    });
    outgoing.on('error', reject);
    outgoing.end(request.body);
  });
}
