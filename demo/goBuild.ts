import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { UserError } from '../runtime/errors.js';

/** What is built here is built once and tested with: without inlining and debug symbols the compiler needs a third less time. */
const compilerFlags = 'all=-l -dwarf=false';

/** Executables that are built from Go packages. */
export interface GoBuild {
  /** The folder with go.mod. */
  readonly module: string;
  /** The package of each executable, by the executable's name. */
  readonly packages: Readonly<Record<string, string>>;
  /** For the linker, e.g. `-s -w`. */
  readonly linkerFlags: string;
  /** Where the executables go. */
  readonly folder: string;
  /** For somebody who has no Go: what else would do, to follow "install Go 1.26". */
  readonly otherwise: string;
}

function runGo({ module, otherwise }: GoBuild, goArguments: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    // -v names each package on stderr as it is compiled: that is the progress.
    const child = spawn('go', goArguments, {
      cwd: module,
      stdio: ['ignore', 2, 2],
      env: { ...process.env, CGO_ENABLED: '0' },
    });
    child.on('error', () => {
      reject(new UserError(`go is not on PATH: install Go 1.26${otherwise}`));
    });
    child.on('exit', (code) => {
      if (code === 0) resolve();
      else reject(new UserError(`go build in ${module} ended with code ${code}: its errors are above`));
    });
  });
}

/**
 * Builds executables; the folder never holds half of one.
 * @throws UserError without `go`, or when it fails
 */
export async function buildGo(build: GoBuild): Promise<void> {
  mkdirSync(build.folder, { recursive: true });
  const unfinished = mkdtempSync(join(build.folder, 'building-'));
  try {
    for (const [name, goPackage] of Object.entries(build.packages)) {
      const path = join(unfinished, name);
      const flags = ['-trimpath', '-gcflags', compilerFlags, '-ldflags', build.linkerFlags];
      await runGo(build, ['build', '-v', ...flags, '-o', path, goPackage]);
      renameSync(path, join(build.folder, name));
    }
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
