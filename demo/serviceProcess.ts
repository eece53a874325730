import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

import { demoWorkerFlags } from './settings.js';
import type { Stack } from './stack.js';

/** A service in a process of its own, of the compiled code, as `driftless worker` or `driftless watcher` runs it. */
export interface ServiceProcess {
  readonly pid: number;
  /** What it has logged so far: a JSON line an event. */
  log(): string;
  /** Sends the signal and waits for the end. Answers the exit code; null: the signal ended it. */
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
 * Starts a service and waits until it is at work.
 * @param args its subcommand and flags
 * @param signal ends it, whether it is at work or not
 * @throws Error with its log when it ends before that
 */
export async function startServiceProcess(
  stack: Surroundings,
  args: readonly [service: 'worker' | 'watcher', ...flags: string[]],
  environment: NodeJS.ProcessEnv = {},
  signal?: AbortSignal,
): Promise<ServiceProcess> {
  const [service] = args;
  const child = spawnDriftless(stack, args, environment);
  signal?.addEventListener('abort', () => child.kill('SIGTERM'));
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (log.includes(`"${service} started"`)) resolve();
    });
    child.once('error', reject);
    child.once('exit', (code) => {
      reject(new Error(`the ${service} ended at its start with code ${String(code)}: ${log}`));
    });
  });
  if (child.pid === undefined) throw new Error(`the ${service} has no process`);
  return {
    pid: child.pid,
    log: () => log,
    async kill(killSignal) {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const exited = once(child, 'exit');
      child.kill(killSignal);
      await exited;
      return child.exitCode;
    },
  };
}

/** Starts a worker with the demo's flags and these. */
export function startWorkerProcess(
  stack: Surroundings,
  speed: number,
  flags: readonly string[] = [],
  environment: NodeJS.ProcessEnv = {},
): Promise<ServiceProcess> {
  return startServiceProcess(stack, ['worker', ...demoWorkerFlags(speed), ...flags], environment);
}
