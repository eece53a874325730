import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

import type { ServiceProcess } from '../../demo/serviceProcess.js';
import { startServiceProcess, startWorkerProcess } from '../../demo/serviceProcess.js';
import { loadTemporalSettings } from '../../activities/temporal/connection.js';
import { eventually } from '../support/eventually.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';

/** A way to Temporal that can be cut. */
class Way {
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  async open(target: string): Promise<void> {
    const { hostname, port } = new URL(`tcp://${target}`);
    this.#server = createServer((socket) => {
      const onward = connect(Number(port), hostname);
      for (const end of [socket, onward]) {
        this.#sockets.add(end);
        // What is cut is not heard of any more.
        end.on('error', () => undefined).on('close', () => this.#sockets.delete(end));
      }
      socket.pipe(onward).pipe(socket);
    });
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
  }

  async cut(): Promise<void> {
    const closed = this.#server === undefined ? undefined : once(this.#server, 'close');
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

const services = [
  { service: 'worker', watches: 1 },
  // The stack has one of its own.
  { service: 'watcher', watches: 2 },
] as const;

describe.each(services)("the $service's probes", ({ service, watches }) => {
  const way = new Way();
  const { address } = loadTemporalSettings();
  let run: ReportedCaseRun;
  let started: ServiceProcess;

  beforeAll(async () => {
    run = await prepareReportedCase({ nodes: 1, budget: '1', speed: 20, withWorker: false });
    await way.open(address);
    const environment = { TEMPORAL_ADDRESS: way.address };
    const flags = ['--health-port', '0'];
    started =
      service === 'worker'
        ? await startWorkerProcess(run.stack, 20, flags, environment)
        : await startServiceProcess(run.stack, ['watcher', ...flags], environment);
  }, 60_000);

  afterAll(async () => {
    await started.kill('SIGKILL');
    await way.cut();
    await run.stop();
  });

  async function probe(name: 'livez' | 'readyz'): Promise<string> {
    const [, port] = /"port":(\d+),"msg":"health served"/.exec(started.log()) ?? [];
    const answer = await fetch(`http://127.0.0.1:${String(port)}/${name}`);
    return `${answer.status} ${await answer.text()}`;
  }

  it('say that it is ready, that it is cut off from Temporal or the cluster, and that it is ready again', async () => {
    expect(await probe('readyz')).toBe('200 ok\n');
    await way.cut();
    await eventually(async () => {
      expect(await probe('readyz')).toMatch(new RegExp(`^503 no answer from Temporal at ${way.address}: .+\n$`));
    });
    expect(await probe('livez')).toBe('200 ok\n');
    await way.open(address);
    await eventually(async () => {
      expect(await probe('readyz')).toBe('200 ok\n');
    });
    const watching = { verb: 'watch', resource: 'nodeclaims', userAgent: service } as const;
    run.stack.cluster.addFault({ ...watching, count: watches, then: { kind: 'end' } });
    run.stack.cluster.addFault({ ...watching, count: 3 * watches, then: { kind: 'fail', status: 500 } });
    await eventually(async () => {
      expect(await probe('readyz')).toMatch(/^503 \/apis\/karpenter\.sh\/v1\/nodeclaims not watched since .+\n$/);
    });
    await eventually(async () => {
      expect(await probe('readyz')).toBe('200 ok\n');
    });
    expect(await started.kill('SIGTERM')).toBe(0);
  });
});
