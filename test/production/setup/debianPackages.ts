import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { errorMessage, UserError } from '../../../runtime/errors.js';

const run = promisify(execFile);
const installTimeoutMs = 300_000;
const postgresVersions = '/usr/lib/postgresql';

/** The newest PostgreSQL's folder of executables; undefined without one. */
function findPostgres(): string | undefined {
  const versions = existsSync(postgresVersions) ? readdirSync(postgresVersions) : [];
  return versions
    .sort((one, other) => Number(other) - Number(one))
    .map((version) => join(postgresVersions, version, 'bin'))
    .find((folder) => existsSync(join(folder, 'postgres')));
}

async function install(name: string, tell: (text: string) => void): Promise<void> {
  tell(`Installing the Debian package ${name}`);
  const options = { timeout: installTimeoutMs, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  try {
    await run('apt-get', ['update', '-q'], options);
    await run('apt-get', ['install', '-y', '-q', '--no-install-recommends', name], options);
  } catch (error) {
    throw new UserError(`the Debian package ${name} is missing and cannot be installed: ${errorMessage(error)}`);
  }
}

/**
 * What the containers are made with: Debian's bubblewrap, and the folder of PostgreSQL's executables.
 * @throws UserError when one is missing and cannot be installed
 */
export async function obtainDebianPackages(tell: (text: string) => void): Promise<{ readonly postgresBin: string }> {
  if (!existsSync('/usr/bin/bwrap')) await install('bubblewrap', tell);
  if (findPostgres() === undefined) await install('postgresql', tell);
  const postgresBin = findPostgres();
  if (postgresBin === undefined) throw new UserError(`no PostgreSQL in ${postgresVersions}`);
  return { postgresBin };
}
