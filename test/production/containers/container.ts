import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

/** Something of this machine that a container sees. */
export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

/** What one process is run in: a file system, a host name, a user of its own; namespaces of the kernel's, as a container engine makes them. */
export interface Container {
  readonly hostname: string;
  /** The image's files; the machine's own /usr and /etc stand in for those of a distribution. */
  readonly root: string;
  readonly isReadOnly: boolean;
  readonly mounts: readonly Mount[];
  readonly tmpfs: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingFolder: string;
  /** The file that stands in for /etc/hosts; undefined: the machine's. */
  readonly hostsFile?: string;
  /** Whose network it has; undefined: the machine's. */
  readonly network?: Network;
  /** User and group id; 0 keeps all rights. */
  readonly user: number;
}

/** A network of its own, with nothing but a loopback interface. */
export interface Network {
  readonly pid: number;
  close(): Promise<void>;
}

/** A process in a container. */
export interface Contained {
  /** Its exit code, once it has ended. */
  readonly exitCode: Promise<number>;
  hasEnded(): boolean;
  /** What it has printed so far, both streams. */
  output(): string;
  /** SIGTERM, then SIGKILL after the grace time; answers the exit code. */
  stop(graceMs: number): Promise<number>;
}

const noSuchProcess = z.object({ code: z.literal('ESRCH') });
const started = z.object({ 'child-pid': z.number() });

/** The folders that are the machine's. */
const systemFolders = ['/usr', '/etc', '/bin', '/sbin', '/lib', '/lib64'];

function sandboxArguments(container: Container): string[] {
  const { root, isReadOnly, mounts, tmpfs, hostsFile } = container;
  // What is mounted last lies on top.
  return [
    ...['--die-with-parent', '--unshare-uts', '--hostname', container.hostname, '--unshare-ipc'],
    ...['--bind', root, '/'],
    ...systemFolders.flatMap((path) => ['--ro-bind', path, path]),
    ...(hostsFile === undefined ? [] : ['--ro-bind', hostsFile, '/etc/hosts']),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...(isReadOnly ? tmpfs : [...tmpfs, '/tmp']).flatMap((path) => ['--perms', '1777', '--tmpfs', path]),
    ...mounts.flatMap(({ source, target, readOnly }) => [readOnly ? '--ro-bind' : '--bind', source, target]),
    ...(isReadOnly ? ['--remount-ro', '/'] : []),
    ...['--chdir', container.workingFolder, '--clearenv'],
    ...Object.entries(container.environment).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

function privilegeArguments(user: number): string[] {
  if (user === 0) return [];
  const dropped = ['--clear-groups', '--no-new-privs', '--inh-caps=-all', '--bounding-set=-all'];
  return ['setpriv', `--reuid=${user}`, `--regid=${user}`, ...dropped, '--'];
}

async function startSandbox(sandbox: readonly string[], command: readonly string[], network?: Network) {
  const entered = network === undefined ? [] : ['nsenter', `--net=/proc/${network.pid}/ns/net`, '--'];
  const [path = '', ...rest] = [...entered, 'bwrap', '--info-fd', '3', ...sandbox, '--', ...command];
  // In a process group of its own: a terminal's Ctrl-C must not end it before what uses it.
  const child = spawn(path, rest, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], detached: true });
  const [, out, error, information] = child.stdio;
  if (information === null || information === undefined || !('read' in information)) throw new Error('no information');
  const printed: string[] = [];
  for (const stream of [out, error]) stream?.on('data', (chunk: Buffer) => printed.push(chunk.toString()));
  const exitCode = exitCodeOf(child);
  // Nobody may wait for it.
  exitCode.catch(() => undefined);
  const told = await text(information);
  const pid = told === '' ? undefined : started.parse(JSON.parse(told))['child-pid'];
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return { exitCode, pid, hasEnded, output: () => printed.join('') };
}

function exitCodeOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === null) reject(new Error(`the container was ended by ${signal ?? 'nobody'}`));
      else resolve(code);
    });
  });
}

function signal(pid: number | undefined, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, name);
  } catch (error) {
    // It has just ended by itself.
    if (!noSuchProcess.safeParse(error).success) throw error;
  }
}

/** Starts a process in a container. */
export async function runContained(container: Container, command: readonly string[]): Promise<Contained> {
  const { root, mounts, tmpfs } = container;
  // bubblewrap would make the folders above a mount for root alone.
  for (const target of ['/tmp', ...tmpfs]) mkdirSync(join(root, target), { recursive: true });
  for (const { source, target } of mounts) {
    mkdirSync(join(root, statSync(source).isDirectory() ? target : dirname(target)), { recursive: true });
  }
  const inside = [...privilegeArguments(container.user), ...command];
  const { exitCode, pid, hasEnded, output } = await startSandbox(
    sandboxArguments(container),
    inside,
    container.network,
  );
  return {
    exitCode,
    hasEnded,
    output,
    async stop(graceMs) {
      signal(pid, 'SIGTERM');
      const isOver = new AbortController();
      const killing = delay(graceMs, undefined, { signal: isOver.signal }).then(
        () => {
          signal(pid, 'SIGKILL');
        },
        () => undefined,
      );
      try {
        return await exitCode;
      } finally {
        isOver.abort();
        await killing;
      }
    },
  };
}

/** Makes a network that lasts until it is closed. */
export async function startNetwork(): Promise<Network> {
  const { pid, exitCode } = await startSandbox(
    ['--die-with-parent', '--unshare-net', '--dev-bind', '/', '/'],
    ['sleep', 'infinity'],
  );
  if (pid === undefined) throw new Error('no network namespace: this needs root');
  return {
    pid,
    async close() {
      signal(pid, 'SIGKILL');
      await exitCode;
    },
  };
}
