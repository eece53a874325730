import { afterAll, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Image } from './containers/buildImage.js';
import { pathOf } from './containers/buildImage.js';
import { runContained } from './containers/container.js';
import { findProduction } from './setup/production.js';

const { serviceImage, demoImage } = findProduction();
const project = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'driftless-images-test-'));

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command of an image as the compose file does: nobody in particular, and nothing can be written. */
async function run(image: Image, command: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const contained = await runContained(
    {
      hostname: 'driftless',
      root: image.root,
      isReadOnly: true,
      mounts: image.mounts,
      tmpfs: ['/tmp'],
      environment: { PATH: pathOf(image), ...image.environment, ...environment },
      workingFolder: image.workingFolder,
      user: image.user,
    },
    [...image.entrypoint, ...command],
  );
  return { exitCode: await contained.exitCode, output: contained.output() };
}

function filesOf({ root }: Image): string[] {
  return readdirSync(join(root, 'app'), { recursive: true, encoding: 'utf8' });
}

describe('the service image', () => {
  it('has the rooms of the service and the bundle of the workflows, and neither simulator nor demo nor test', () => {
    const rooms = readdirSync(join(serviceImage.root, 'app', 'dist')).sort();
    const expected = [
      'activities',
      'bin',
      'client',
      'karpenter',
      'runtime',
      'worker',
      'workflowBundle.js',
      'workflows',
    ];
    expect(rooms).toEqual(expected);
    expect(statSync(join(serviceImage.root, 'app', 'dist', 'workflowBundle.js')).size).toBeGreaterThan(100_000);
  });

  it('has no package that is for development, for the simulators or for the demo alone, and one native part of the SDK', () => {
    const modules = join(serviceImage.root, 'app', 'node_modules');
    const absent = ['typescript', 'jest', '@temporalio/testing', '@peculiar/x509', 'reflect-metadata', 'rfc6902'];
    for (const name of absent) expect(existsSync(join(modules, name))).toBe(false);
    expect(readdirSync(join(modules, '@temporalio', 'core-bridge', 'releases'))).toHaveLength(1);
  });

  it('has nothing of the context beside what the Dockerfile copies', () => {
    const files = filesOf(serviceImage).filter((path) => !/^(node_modules|dist)(\/|$)/.test(path));
    expect(files).toEqual(['package.json']);
    expect(readFileSync(join(serviceImage.root, 'app', 'package.json'), 'utf8')).toBe(
      readFileSync(join(project, 'package.json'), 'utf8'),
    );
  });

  it('runs as nobody in particular, on a file system that cannot be written', async () => {
    expect(serviceImage.user).toBe(1000);
    // In one stream: two come in either order.
    const script =
      'exec 2>&1; id -u; grep CapEff /proc/self/status; touch /app/file; touch /tmp/file && echo /tmp is fine';
    const { output } = await run({ ...serviceImage, entrypoint: ['sh', '-c'] }, [script]);
    expect(output.split('\n')).toEqual([
      '1000',
      expect.stringMatching(/^CapEff:\s+0000000000000000$/),
      expect.stringContaining("cannot touch '/app/file'"),
      '/tmp is fine',
      '',
    ]);
  });

  it.each(['worker', 'watcher', 'status', 'plan', 'why', 'budget', 'pause', 'cancel', 'retry', 'replace'])(
    'answers driftless %s --help',
    async (command) => {
      const { exitCode, output } = await run(serviceImage, [command, '--help']);
      expect(output).toContain(`Usage: driftless ${command}`);
      expect(exitCode).toBe(0);
    },
  );

  it('knows no demo and no simulator, and says so in one line', async () => {
    for (const command of ['demo', 'simulate']) {
      const { exitCode, output } = await run(serviceImage, [command]);
      expect(output).toMatch(new RegExp(`^error: unknown command '${command}'.*\n$`));
      expect(exitCode).toBe(1);
    }
  });

  it('says in one line what is missing when it is told nothing', async () => {
    const { exitCode, output } = await run(serviceImage, ['worker', '--launcher', 'arm']);
    expect(output).toMatch(/^error: required option '--subscription-id <id>' not specified\n$/);
    expect(exitCode).toBe(1);
  });
});

describe('the demo image', () => {
  it('has the simulators and the demo as well', async () => {
    expect(demoImage.user).toBe(1000);
    expect((await run(demoImage, ['simulate', '--help'])).output).toContain('Usage: driftless simulate');
    expect((await run(demoImage, ['demo', '--help'])).output).toContain('Usage: driftless demo');
  });

  it('lets the volume for the simulators belong to its user', () => {
    expect(statSync(join(demoImage.root, 'simulated')).uid).toBe(1000);
  });
});
