import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

import { cacheFolder } from '../../../demo/controlPlane/cacheFolder.js';
import { isExecutable } from '../../../demo/executable.js';
import { buildGo } from '../../../demo/goBuild.js';

const run = promisify(execFile);

/** Temporal's server, its schema tool and its UI, as in their images. */
const temporalPackages = {
  'temporal-server': 'go.temporal.io/server/cmd/server',
  'temporal-sql-tool': 'go.temporal.io/server/cmd/tools/sql',
  'ui-server': 'github.com/temporalio/ui-server/v2/cmd/server',
};
/** Docker's own readers of a compose file and a Dockerfile. */
const dockerPackages = { compose: './compose', dockerfile: './dockerfile' };

/** What is built depends on the files of the module alone. */
function hashOf(module: string): string {
  const hash = createHash('sha256');
  const names = readdirSync(module, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(go|mod|sum)$/.test(name),
  );
  for (const name of names.sort()) hash.update(name).update(readFileSync(join(module, name)));
  return hash.digest('hex').slice(0, 16);
}

async function obtain(
  module: string,
  name: string,
  packages: Readonly<Record<string, string>>,
  tell: (text: string) => void,
): Promise<string> {
  const folder = cacheFolder(process.env, name, hashOf(module));
  const missing = Object.entries(packages).filter(([executable]) => !isExecutable(join(folder, executable)));
  if (missing.length > 0) {
    tell(`Building ${missing.map(([executable]) => executable).join(', ')}, once`);
    await buildGo({ module, packages: Object.fromEntries(missing), linkerFlags: '-s -w', folder, otherwise: '' });
  }
  return folder;
}

/** The folder of a module's source, as Go keeps it: the images take some files from there. */
async function sourceOf(module: string, path: string): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', path], { cwd: module });
  return z.object({ Dir: z.string() }).parse(JSON.parse(stdout)).Dir;
}

/** Folders with executables and sources. */
export interface GoTools {
  readonly temporalBin: string;
  readonly dockerBin: string;
  readonly temporalSource: string;
  readonly uiSource: string;
}

/**
 * Builds what is not in the user's cache: about five minutes on two cores.
 * @param assets the folder with the two Go modules
 * @throws UserError without `go`
 */
export async function obtainGoTools(assets: string, tell: (text: string) => void): Promise<GoTools> {
  const [temporal, docker] = [join(assets, 'temporal'), join(assets, 'docker')];
  return {
    dockerBin: await obtain(docker, 'docker-readers', dockerPackages, tell),
    temporalBin: await obtain(temporal, 'temporal-server', temporalPackages, tell),
    temporalSource: await sourceOf(temporal, 'go.temporal.io/server'),
    uiSource: await sourceOf(temporal, 'github.com/temporalio/ui-server/v2'),
  };
}
