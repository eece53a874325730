import type { IncomingHttpHeaders } from 'node:http';

import { gatewayError } from './armError.js';

/** A request as the handlers see it: read to its end. */
export interface ArmRequest {
  readonly id: string;
  readonly method: string;
  /** Scheme, host and port by which the client knows the server. */
  readonly origin: string;
  /** As the client wrote it, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ArmAnswer {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The body as JSON. @throws ArmError 400 when it is none */
export function parseJsonBody(request: ArmRequest): unknown {
  try {
    return JSON.parse(request.body);
  } catch {
    // The parser's own message quotes the body, which can hold secrets.
    throw gatewayError(400, 'InvalidRequestContent', 'The request content was invalid and could not be deserialized.');
  }
}
