import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { errorMessage, UserError } from '../../runtime/errors.js';
import { cacheFolder } from './cacheFolder.js';
import type { ZipEntry } from './zipArchive.js';
import { readZip } from './zipArchive.js';

const moduleVersion = 'sigs.k8s.io/karpenter@v1.15.0';
/** As the Go checksum database has it. */
const moduleHash = 'h1:5SEptlAvsOZbNg4qg8OSdF1qi6BEZHZLA020nXY7jGw=';
const crdNames = ['karpenter.sh_nodepools.yaml', 'karpenter.sh_nodeclaims.yaml'];

function sha256(content: Buffer | string): Buffer {
  return createHash('sha256').update(content).digest();
}

/** Go's hash of a module (golang.org/x/mod/sumdb/dirhash, Hash1). */
function hash1(entries: readonly ZipEntry[]): string {
  const sorted = [...entries].sort((one, other) => (one.name < other.name ? -1 : 1));
  const lines = sorted.map(({ name, content }) => `${sha256(content()).toString('hex')}  ${name}\n`);
  return `h1:${sha256(lines.join('')).toString('base64')}`;
}

function proxies(environment: NodeJS.ProcessEnv): readonly string[] {
  const given = (environment.GOPROXY ?? '').split(/[,|]/).filter((each) => each.startsWith('http'));
  return given.length > 0 ? given : ['https://proxy.golang.org'];
}

async function downloadModule(environment: NodeJS.ProcessEnv): Promise<readonly ZipEntry[]> {
  const [path, version] = moduleVersion.split('@');
  const failures: string[] = [];
  for (const proxy of proxies(environment)) {
    try {
      const response = await fetch(`${proxy}/${path}/@v/${version}.zip`);
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      const entries = readZip(Buffer.from(await response.arrayBuffer()));
      if (hash1(entries) !== moduleHash) throw new Error(`its hash is not ${moduleHash}`);
      return entries;
    } catch (error) {
      failures.push(`${new URL(proxy).host}: ${errorMessage(error)}`);
    }
  }
  throw new UserError(`the Go module ${moduleVersion} cannot be fetched: set GOPROXY (${failures.join('; ')})`);
}

/**
 * The CRDs of NodePool and NodeClaim as Karpenter serves them, in YAML. They come from its Go module by way of the module proxy and not
 * by `go mod download`, which refuses a module that asks for a newer Go.
 * @throws UserError when the module cannot be had
 */
export async function karpenterCrds(environment: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const folder = cacheFolder(environment, 'crds', moduleVersion);
  const paths = crdNames.map((name) => join(folder, name));
  if (!paths.every((path) => existsSync(path))) {
    const entries = await downloadModule(environment);
    for (const path of paths) {
      const name = `${moduleVersion}/pkg/apis/crds/${path.slice(folder.length + 1)}`;
      const entry = entries.find((each) => each.name === name);
      if (entry === undefined) throw new Error(`${name} is not in its module`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, entry.content());
    }
  }
  return paths.map((path) => readFileSync(path, 'utf8'));
}
