import type { ServerResponse } from 'node:http';

import type { AuditLog } from '../auditLog.js';
import type { AzureAuditEntry } from './audit.js';
import type { MachineFeed } from './machineFeed.js';
import { ArmError, gatewayError } from './protocol/armError.js';
import type { ArmRequest } from './protocol/armRequest.js';
import { checkBearerToken } from './protocol/gateway.js';

const prefix = '/_simulator/';

function sendLine(response: ServerResponse, line: object): void {
  response.write(`${JSON.stringify(line)}\n`);
}

/** What the simulator tells that Azure does not: the machine feed and the audit log, as NDJSON. Not in the audit itself. */
export class SimulatorService {
  constructor(
    private readonly token: string,
    private readonly audit: AuditLog<AzureAuditEntry>,
    private readonly machines: MachineFeed,
  ) {}

  isFor(request: ArmRequest): boolean {
    return request.path.startsWith(prefix);
  }

  serve(request: ArmRequest, response: ServerResponse): void {
    try {
      checkBearerToken(request, this.token);
      this.#serve(request, response);
    } catch (error) {
      if (!(error instanceof ArmError)) throw error;
      response.writeHead(error.status, { 'content-type': 'application/json', ...error.extras.headers });
      response.end(JSON.stringify(error.body));
    }
  }

  #serve(request: ArmRequest, response: ServerResponse): void {
    switch (`${request.method} ${request.path}`) {
      case `GET ${prefix}machines`:
        this.#streamMachines(response);
        return;
      case `GET ${prefix}audit`:
        response.writeHead(200, { 'content-type': 'application/x-ndjson' });
        for (const entry of this.audit.entries) sendLine(response, entry);
        response.end();
        return;
      default:
        throw gatewayError(404, 'NotFound', `The simulator has no ${request.method} ${request.path}.`);
    }
  }

  #streamMachines(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.flushHeaders();
    const unsubscribe = this.machines.subscribe((change) => {
      sendLine(response, change);
    });
    response.on('close', unsubscribe);
  }
}
