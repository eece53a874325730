import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort } from '../freePort.js';
import type { Binaries } from './binaries.js';
import type { ChildServer } from './childProcess.js';
import { startChildServer } from './childProcess.js';

async function startClient(
  name: 'kube-controller-manager' | 'kube-scheduler',
  binaries: Binaries,
  kubeConfigPath: string,
  parameters: readonly string[],
): Promise<ChildServer> {
  const folder = mkdtempSync(join(tmpdir(), `driftless-${name}-`));
  const port = await freePort();
  const common = [
    ...['--kubeconfig', kubeConfigPath, '--leader-elect=false', '--bind-address', '127.0.0.1'],
    ...['--secure-port', String(port), '--cert-dir', join(folder, 'certificates')],
    // Whoever waits for it to be healthy has no account there.
    ...['--authorization-always-allow-paths', '/healthz'],
  ];
  // It makes its certificate by itself: that it answers is all that is asked.
  const isUp = (): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const options = { port, host: '127.0.0.1', path: '/healthz', rejectUnauthorized: false, agent: false } as const;
      const outgoing = request(options, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      outgoing.on('error', reject);
      outgoing.end();
    });
  const command = { name, path: binaries[name], parameters: [...common, ...parameters] };
  const server = await startChildServer(command, folder, isUp);
  return {
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a kube-controller-manager that runs these controllers and no others. */
export function startControllers(
  binaries: Binaries,
  kubeConfigPath: string,
  names: readonly string[],
): Promise<ChildServer> {
  return startClient('kube-controller-manager', binaries, kubeConfigPath, ['--controllers', names.join(',')]);
}

/** Starts a kube-scheduler. */
export function startScheduler(binaries: Binaries, kubeConfigPath: string): Promise<ChildServer> {
  return startClient('kube-scheduler', binaries, kubeConfigPath, []);
}
