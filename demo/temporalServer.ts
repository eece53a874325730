import { Connection } from '@temporalio/client';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

import type { TemporalSettings } from '../activities/temporal/connection.js';
import { errorMessage, UserError } from '../runtime/errors.js';
import { searchAttributeNames } from '../workflows/searchAttributes.js';
import { freePort } from './freePort.js';

export interface TemporalServer {
  readonly settings: TemporalSettings;
  readonly address: string;
  readonly uiUrl: string;
  /** Ends it as a power cut would, and starts it anew at the same address: only one with a database file remembers anything. */
  restart(downMs: number): Promise<void>;
  stop(): Promise<void>;
}

export interface TemporalServerOptions {
  /** A SQLite file that outlives the server; without one everything is in memory. */
  readonly databaseFile?: string;
}

const namespace = 'driftless';
const startTimeoutMs = 30_000;
const stopTimeoutMs = 5_000;
/** The last of what the server printed, for the error when it does not start. */
const keptOutput = 2_000;

interface DevServer {
  readonly cli: string;
  readonly port: number;
  readonly uiPort: number;
  readonly databaseFile: string | undefined;
}

function addressOf({ port }: DevServer): string {
  return `127.0.0.1:${port}`;
}

function devServerArguments({ port, uiPort, databaseFile }: DevServer): string[] {
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--ui-port', String(uiPort)],
    ...['--namespace', namespace, '--log-level', 'error'],
    // Timers and retries have a floor of a second otherwise, which is twenty simulated ones.
    ...['--dynamic-config-value', 'history.timerProcessorMaxTimeShift="20ms"'],
    ...(databaseFile === undefined ? [] : ['--db-filename', databaseFile]),
    ...searchAttributeNames.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
  ];
}

async function waitUntilUp(address: string, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  for (;;) {
    if (child.exitCode !== null) {
      throw new UserError(
        `Temporal's dev server ${child.spawnfile} ended at its start with code ${child.exitCode}: ${output()}`,
      );
    }
    try {
      const connection = await Connection.connect({ address, connectTimeout: 1_000 });
      await connection.workflowService.describeNamespace({ namespace }).finally(() => connection.close());
      return;
    } catch (error) {
      if (Date.now() > deadline)
        throw new UserError(`Temporal's dev server did not start: ${errorMessage(error)} ${output()}`);
      await delay(100);
    }
  }
}

/** The process of a dev server that is up. */
interface DevServerProcess {
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** @throws UserError when it does not start */
async function spawnDevServer(server: DevServer): Promise<DevServerProcess> {
  // In a process group of its own: a terminal's Ctrl-C must not end it before what uses it.
  const child = spawn(server.cli, devServerArguments(server), { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-keptOutput);
    });
  }
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (error) => {
      reject(new UserError(`Temporal's dev server ${server.cli}: ${error.message}`));
    });
  });
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    await exited;
    clearTimeout(timer);
  };
  try {
    await Promise.race([waitUntilUp(addressOf(server), child, () => printed.trim().replaceAll('\n', ' ')), failed]);
  } catch (error) {
    await end('SIGTERM');
    throw error;
  }
  return { end };
}

/**
 * Starts Temporal's dev server on loopback, with the namespace and the search attributes that Driftless needs.
 * @param cli path of Temporal's CLI
 * @throws UserError when it does not start
 */
export async function startTemporalServer(cli: string, options: TemporalServerOptions = {}): Promise<TemporalServer> {
  const [port, uiPort] = [await freePort(), await freePort()];
  const server: DevServer = { cli, port, uiPort, databaseFile: options.databaseFile };
  const address = addressOf(server);
  let running = await spawnDevServer(server);
  return {
    settings: { connection: { address }, address, namespace },
    address,
    uiUrl: `http://127.0.0.1:${uiPort}`,
    async restart(downMs) {
      await running.end('SIGKILL');
      await delay(downMs);
      running = await spawnDevServer(server);
    },
    stop: () => running.end('SIGTERM'),
  };
}
