import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { WantedBinaries } from './buildBinaries.js';

const run = promisify(execFile);

const answerTimeoutMs = 5_000;
const archiveNames = ['etcd', 'kube-apiserver'];
const archives = 'https://github.com/kubernetes-sigs/controller-tools/releases/download';
const releases = 'https://dl.k8s.io/release';

const architectures: Readonly<Partial<Record<NodeJS.Architecture, string>>> = { x64: 'amd64', arm64: 'arm64' };

function platform(): { readonly os: string; readonly architecture: string } {
  const architecture = architectures[process.arch];
  if (architecture === undefined) throw new Error(`no official binaries for ${process.arch}`);
  return { os: process.platform, architecture };
}

/** The time limit is for the answer to begin: how long the rest takes is the network's business. */
async function download(url: string): Promise<Buffer> {
  const abort = new AbortController();
  const timeout = setTimeout(() => {
    abort.abort(new Error(`no answer within ${answerTimeoutMs / 1000} s from ${new URL(url).host}`));
  }, answerTimeoutMs);
  try {
    const response = await fetch(url, { signal: abort.signal });
    clearTimeout(timeout);
    if (!response.ok) throw new Error(`HTTP ${response.status} for ${url}`);
    return Buffer.from(await response.arrayBuffer());
  } finally {
    clearTimeout(timeout);
  }
}

/** The archive of controller-tools' envtest: etcd and kube-apiserver, one archive for each minor version. */
async function downloadArchive(version: string, folder: string): Promise<void> {
  const { os, architecture } = platform();
  const release = `v${version.replace(/\.\d+$/, '.0')}`;
  const archive = join(folder, 'envtest.tar.gz');
  writeFileSync(
    archive,
    await download(`${archives}/envtest-${release}/envtest-${release}-${os}-${architecture}.tar.gz`),
  );
  await run('tar', ['-xzf', archive, '-C', folder, '--strip-components', '2']);
}

async function downloadRelease(version: string, folder: string, name: string): Promise<void> {
  const { os, architecture } = platform();
  const path = join(folder, name);
  writeFileSync(path, await download(`${releases}/v${version}/bin/${os}/${architecture}/${name}`));
  chmodSync(path, 0o755);
}

/**
 * Fetches the official executables; the folder never holds half of one.
 * @throws Error when one cannot be had, at the latest 5 s after its server stopped answering
 */
export async function downloadBinaries({ version, folder, names }: WantedBinaries): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const unfinished = mkdtempSync(join(folder, 'downloading-'));
  try {
    if (names.some((name) => archiveNames.includes(name))) await downloadArchive(version, unfinished);
    for (const name of names) {
      if (!archiveNames.includes(name)) await downloadRelease(version, unfinished, name);
      renameSync(join(unfinished, name), join(folder, name));
    }
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
