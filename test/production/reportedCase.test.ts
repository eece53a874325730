import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

import { eventually } from '../support/eventually.js';
import { readComposeFile } from './containers/composeFile.js';
import { ComposeRun } from './containers/composeUp.js';
import { findProduction } from './setup/production.js';

const production = findProduction();
const startTimeoutMs = 240_000;
const rolloutTimeoutMs = 180_000;

const reportSchema = z.object({
  nodes: z.number(),
  replaced: z.number(),
  failed: z.number(),
  maxInFlight: z.number(),
  maxDisrupted: z.number(),
  orphans: z.record(z.string(), z.number()),
});

describe('docker compose --profile demo up', () => {
  let stack: ComposeRun;

  beforeAll(async () => {
    const project = await readComposeFile(production.dockerBin, {
      folder: fileURLToPath(new URL('../..', import.meta.url)),
      profiles: ['demo'],
      environment: { POSTGRES_PASSWORD: 'L3ttersAndDigits' },
    });
    stack = await ComposeRun.create(project, production);
    await stack.up();
  }, startTimeoutMs);

  afterAll(async () => {
    await stack.remove();
  }, 60_000);

  it(
    'replaces ten drifted nodes, five at a time, and leaves nothing behind',
    async () => {
      const path = stack.volumePath('simulated', 'report.json');
      const report = await eventually(
        () => reportSchema.parse(JSON.parse(readFileSync(path, 'utf8'))),
        rolloutTimeoutMs,
      );
      expect(report).toMatchObject({ nodes: 10, replaced: 10, failed: 0, maxInFlight: 5, maxDisrupted: 5 });
      expect(report.orphans).toEqual({ vms: 0, nics: 0, nodeClaims: 0, taints: 0 });
      expect(await stack.outputOf('demo')).toContain('replaced                 10 of 10');
    },
    rolloutTimeoutMs + 10_000,
  );

  it.each(['demo-worker', 'demo-watcher'])('finds %s healthy', async (name) => {
    await eventually(async () => {
      expect(await stack.checkHealth(name)).toEqual({ exitCode: 0, output: 'ok\n\n' });
    });
  });

  it('keeps the workflows in PostgreSQL', async () => {
    const query = "SELECT count(*) FROM executions_visibility WHERE workflow_type_name = 'replaceNode' AND status = 2";
    const counted = await stack.execute('postgres', [
      ...[
        'sh',
        '-c',
        'PGPASSWORD=$POSTGRES_PASSWORD psql --host=postgres --username=temporal --tuples-only "$@"',
        'psql',
      ],
      ...['--dbname=visibility', `--command=${query}`],
    ]);
    expect(counted).toEqual({ exitCode: 0, output: expect.stringMatching(/^ +10\n/) });
  });

  it('answers people from the containers', async () => {
    const status = await stack.execute('demo-worker', ['node', 'dist/bin/driftless.js', 'status']);
    expect(status).toEqual({ exitCode: 0, output: expect.stringContaining('general-purpose') });
  });

  it('serves the UI, which sees the namespace', async () => {
    const page = 'http://temporal-ui:8080/api/v1/namespaces/driftless';
    const script = `fetch('${page}').then(async (answer) => console.log(answer.status, await answer.text()))`;
    await eventually(async () => {
      const { output } = await stack.execute('demo', ['node', '-e', script]);
      expect(output).toMatch(/^200 [^]*"name": *"driftless"/);
    });
  });

  it(
    'stops in the grace time that it gives, and comes up again on what is there',
    async () => {
      const stopped = await stack.down();
      for (const name of ['demo-worker', 'demo-watcher']) {
        expect(stopped).toContainEqual({ name, exitCode: 0 });
      }
      await stack.up(['temporal-namespace']);
      expect(await stack.exitCodeOf('temporal-schema')).toBe(0);
      expect(await stack.exitCodeOf('temporal-namespace')).toBe(0);
      expect(await stack.outputOf('temporal-schema')).toContain('found zero updates from current version');
      const listed = await stack.execute('temporal-namespace', ['temporal', 'workflow', 'count']);
      expect(listed).toEqual({ exitCode: 0, output: expect.stringMatching(/Total: \d\d/) });
    },
    startTimeoutMs,
  );
});
