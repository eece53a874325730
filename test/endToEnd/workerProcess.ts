import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

import { demoWorkerFlags } from '../../demo/settings.js';
import type { Stack } from '../../demo/stack.js';

/** A worker or a watcher in a process of its own, of the compiled code, as `driftless worker` runs it. */
export interface ServiceProcess {
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
}

/** What a service has to know of a stack. */
export type Surroundings = Pick<Stack, 'files'> & { readonly azure: Pick<Stack['azure'], 'endpoint'> };

/** Starts the compiled `driftless` against a stack's simulators; its log comes on stderr. */
export function spawnDriftless(
  { files, azure }: Surroundings,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): ChildProcessByStdio<null, null, Readable> {
  return spawn(process.execPath, ['dist/bin/driftless.js', ...args], {
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      KUBECONFIG: files.kubeConfig,
      DRIFTLESS_AZURE_ENDPOINT: azure.endpoint,
      DRIFTLESS_AZURE_CA: files.azureCa,
      DRIFTLESS_AZURE_TOKEN_FILE: files.azureToken,
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/**
 * Starts a worker as startServiceProcess does.
 * @param flags further flags of the worker
 */
export function startWorkerProcess(
  stack: Surroundings,
  speed: number,
  flags: readonly string[] = [],
): Promise<ServiceProcess> {
  return startServiceProcess(stack, 'worker', [...demoWorkerFlags(speed), ...flags]);
}

/**
 * Starts a service and waits until it is at work.
 * @param signal ends it, whether it is at work or not
 * @throws Error with its log when it ends before that
 */
export async function startServiceProcess(
  stack: Surroundings,
  command: 'worker' | 'watcher',
  flags: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  signal?: AbortSignal,
): Promise<ServiceProcess> {
  const child = spawnDriftless(stack, [command, ...flags], environment);
  signal?.addEventListener('abort', () => child.kill('SIGTERM'));
  let log = '';
  const started = new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (log.includes(`"${command} started"`)) resolve();
    });
    child.once('exit', (code) => {
      reject(new Error(`the ${command} ended at its start with code ${String(code)}: ${log}`));
    });
  });
  await started;
  return {
    async kill(killSignal) {
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      const exited = hasEnded ? undefined : once(child, 'exit');
      child.kill(killSignal);
      await exited;
      return child.exitCode;
    },
  };
}
