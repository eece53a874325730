import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { UserError } from '../../runtime/errors.js';

/** A server that runs beside this process; what it prints goes to a file. */
export interface ChildServer {
  stop(): Promise<void>;
}

const startTimeoutMs = 90_000;
const probeIntervalMs = 50;
const stopTimeoutMs = 5_000;
/** The last of what the server printed, for the error when it does not start. */
const shownOutput = 2_000;

/**
 * Starts a server and waits until it is up.
 * @param folder where `NAME.log` goes
 * @param isUp asked again and again; a rejection means no
 * @throws UserError with the end of its log when it ends or is not up within 90 s
 */
export async function startChildServer(
  command: { readonly name: string; readonly path: string; readonly parameters: readonly string[] },
  folder: string,
  isUp: () => Promise<boolean>,
): Promise<ChildServer> {
  const { name, path, parameters } = command;
  const logPath = join(folder, `${name}.log`);
  const log = createWriteStream(logPath);
  // In a process group of its own: a terminal's Ctrl-C must not end it before what uses it.
  const child = spawn(path, parameters, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const failures: string[] = [];
  child.on('error', (error) => failures.push(error.message));
  const hasEnded = (): boolean => failures.length > 0 || child.exitCode !== null || child.signalCode !== null;

  const stop = async (): Promise<void> => {
    if (!hasEnded()) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const killing = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
      await exited;
      clearTimeout(killing);
    }
    log.end();
  };

  const deadlineMs = performance.now() + startTimeoutMs;
  while (!(await isUp().catch(() => false))) {
    if (hasEnded() || performance.now() > deadlineMs) {
      await stop();
      const printed = (await readFile(logPath, 'utf8')).slice(-shownOutput);
      throw new UserError(`${name} did not start: ${[...failures, printed].join(' ')}`);
    }
    await delay(probeIntervalMs);
  }
  return { stop };
}
