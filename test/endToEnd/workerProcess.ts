import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

import { demoWorkerFlags } from '../../demo/settings.js';
import type { Stack } from '../../demo/stack.js';

/** A worker in a process of its own, of the compiled code, as `driftless worker` runs it. */
export interface WorkerProcess {
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
}

/** Starts the compiled `driftless` against a stack's simulators; its log comes on stderr. */
export function spawnDriftless(
  { files, azure }: Pick<Stack, 'files' | 'azure'>,
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

/** @param flags further flags of the worker */
export async function startWorkerProcess(
  stack: Stack,
  speed: number,
  flags: readonly string[] = [],
): Promise<WorkerProcess> {
  const child = spawnDriftless(stack, ['worker', ...demoWorkerFlags(speed), ...flags]);
  let log = '';
  const started = new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (log.includes('"worker started"')) resolve();
    });
    child.once('exit', (code) => {
      reject(new Error(`the worker ended at its start with code ${String(code)}: ${log}`));
    });
  });
  await started;
  return {
    async kill(signal) {
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
      return child.exitCode;
    },
  };
}
