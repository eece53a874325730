import { afterEach, describe, expect, it } from '@jest/globals';
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { simulatedAzure } from '../../simulator/options.js';
import { searchAttributeNames } from '../../workflows/searchAttributes.js';
import type { Project } from './containers/composeFile.js';
import { readComposeFile } from './containers/composeFile.js';
import { findProduction } from './setup/production.js';

const { dockerBin } = findProduction();
const project = fileURLToPath(new URL('../..', import.meta.url));
const password = { POSTGRES_PASSWORD: 'not-a-secret' };
const infrastructure = ['postgres', 'temporal', 'temporal-namespace', 'temporal-schema', 'temporal-ui'];
const folders: string[] = [];

/** A checkout of somebody who has done what .env.example says, with these files changed. */
function checkout(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'driftless-checkout-'));
  folders.push(folder);
  copyFileSync(join(project, 'docker-compose.yml'), join(folder, 'docker-compose.yml'));
  cpSync(join(project, 'deploy'), join(folder, 'deploy'), { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

function example(name: string): string {
  return readFileSync(join(project, name), 'utf8');
}

function read(folder: string, profiles: readonly string[], environment: Readonly<Record<string, string>>) {
  return readComposeFile(dockerBin, { folder, profiles, environment });
}

/** The values of everything that a project would run with. */
function environments({ services }: Project): string[] {
  return Object.values(services).flatMap(({ environment }) => Object.values(environment));
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

describe('docker-compose.yml', () => {
  it('says what to set when there is no password', async () => {
    await expect(read(checkout(), ['demo'], {})).rejects.toThrow(
      'required variable POSTGRES_PASSWORD is missing a value: set it to a password',
    );
  });

  it('runs Temporal, the simulators, a worker and a watcher with the profile demo, and nothing of the cluster', async () => {
    const { services } = await read(checkout(), ['demo'], password);
    expect(Object.keys(services).sort()).toEqual(['demo', 'demo-watcher', 'demo-worker', ...infrastructure]);
  });

  it('runs a worker and a watcher on the cluster of .env, and nothing of the demo', async () => {
    const env = example('.env.example').replace('POSTGRES_PASSWORD=', 'POSTGRES_PASSWORD=not-a-secret');
    const folder = checkout({ '.env': env, 'driftless.env': example('driftless.env.example'), kubeconfig: '' });
    const { services } = await read(folder, [], {});
    expect(Object.keys(services).sort()).toEqual([...infrastructure, 'watcher', 'worker']);
    expect(services.worker?.environment).toMatchObject({
      DRIFTLESS_LAUNCHER: 'arm',
      KUBECONFIG: '/cluster/kubeconfig',
    });
    expect(services.worker?.volumes).toEqual([
      expect.objectContaining({ source: join(folder, 'kubeconfig'), target: '/cluster/kubeconfig', read_only: true }),
    ]);
  });

  it('says which file is missing when nobody has said what worker and watcher are told', async () => {
    await expect(read(checkout(), ['cluster'], password)).rejects.toThrow(/env file .*driftless\.env not found/);
  });

  it('keeps the demo away from the cluster and the Azure that .env and driftless.env name', async () => {
    const env = { ...password, COMPOSE_PROFILES: 'cluster', AZURE_SUBSCRIPTION_ID: 'mine', KUBECONFIG: '/mine' };
    const folder = checkout({ 'driftless.env': 'AZURE_SUBSCRIPTION_ID=mine\nAZURE_CLIENT_SECRET=mine\n' });
    const demo = await read(folder, ['demo'], env);
    expect(environments(demo)).not.toEqual(expect.arrayContaining([expect.stringContaining('mine')]));
    expect(demo.services['demo-worker']?.environment).toMatchObject({
      AZURE_SUBSCRIPTION_ID: simulatedAzure.subscriptionId,
      DRIFTLESS_RESOURCE_GROUP: simulatedAzure.resourceGroup,
      DRIFTLESS_LOCATION: simulatedAzure.location,
    });
  });

  it('has no secret in it: each place of the password is filled from the environment', async () => {
    const { services } = await read(checkout(), ['demo'], password);
    const holders = Object.entries(services).flatMap(([name, { environment }]) =>
      Object.entries(environment)
        .filter(([key]) => /PASSWORD|PWD|SECRET/.test(key))
        .map(([key, value]) => `${name} ${key}=${value}`),
    );
    expect(holders.sort()).toEqual([
      'postgres POSTGRES_PASSWORD=not-a-secret',
      'temporal POSTGRES_PWD=not-a-secret',
      'temporal-schema SQL_PASSWORD=not-a-secret',
    ]);
  });

  it('pins each image to a version, publishes on loopback alone, and gives the processes of Driftless no rights', async () => {
    const folder = checkout({ 'driftless.env': '' });
    const { services } = await read(folder, ['demo', 'cluster'], password);
    for (const { image, ports } of Object.values(services)) {
      expect(image).toMatch(/:\d+(\.\d+)+$/);
      for (const port of ports) expect(port.host_ip).toBe('127.0.0.1');
    }
    for (const name of ['worker', 'watcher', 'demo', 'demo-worker', 'demo-watcher']) {
      expect(services[name]).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
    }
  });

  it('has the namespace job make the search attributes that the workflows use, no more and no fewer', () => {
    const script = readFileSync(join(project, 'deploy', 'compose', 'temporal-namespace.sh'), 'utf8');
    const [, attributes = ''] = /^attributes='(.*)'$/m.exec(script) ?? [];
    expect(attributes.split(' ').sort()).toEqual([...searchAttributeNames].sort());
  });
});
