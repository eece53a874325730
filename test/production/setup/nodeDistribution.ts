import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { cacheFolder } from '../../../demo/controlPlane/cacheFolder.js';
import { isExecutable } from '../../../demo/executable.js';
import { errorMessage, UserError } from '../../../runtime/errors.js';

const run = promisify(execFile);
const downloadTimeoutMs = 300_000;

/**
 * The folder of the Node.js with npm that an image is based on: its distribution comes as a package from npm.
 * @param version e.g. `24.20.0`
 * @throws UserError when it cannot be fetched
 */
export async function obtainNode(version: string, tell: (text: string) => void): Promise<string> {
  const name = `node-linux-${process.arch}`;
  const folder = cacheFolder(process.env, 'node', version);
  const path = join(folder, 'node_modules', name);
  if (isExecutable(join(path, 'bin', 'node'))) return path;
  tell(`Fetching Node.js ${version}, once`);
  mkdirSync(join(folder, '..'), { recursive: true });
  const unfinished = mkdtempSync(`${folder}-`);
  try {
    const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', unfinished];
    await run('npm', ['install', ...flags, `${name}@${version}`], { timeout: downloadTimeoutMs, cwd: unfinished });
    renameSync(unfinished, folder);
  } catch (error) {
    throw new UserError(`Node.js ${version} cannot be fetched from npm: ${errorMessage(error)}`);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return path;
}
