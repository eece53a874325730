import { chmodSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';

import type { Production } from '../setup/production.js';
import type { Image } from './buildImage.js';

/** The user of the images that Temporal makes. */
const temporalUser = 1000;

/** What stands in for an image of somebody else: the same programs, on this machine's distribution. */
function standIn(folder: string, image: Partial<Image>): Image {
  const root = mkdtempSync(join(folder, 'image-'));
  chmodSync(root, 0o755);
  return {
    root,
    mounts: [],
    path: [],
    environment: {},
    workingFolder: '/',
    user: temporalUser,
    entrypoint: [],
    command: [],
    ...image,
  };
}

/** The images of the compose file, by the name without the tag; each call makes files of its own. */
export function imageOf(reference: string, production: Production, folder: string): Image {
  const [name = ''] = reference.split(':');
  const bin = '/opt/temporal';
  const executables = { source: production.temporalBin, target: bin, readOnly: true };
  switch (name) {
    case 'driftless':
      return production.serviceImage;
    case 'driftless-demo':
      return production.demoImage;
    case 'postgres':
      return standIn(folder, {
        user: 0,
        path: [production.postgresBin],
        mounts: [{ source: join(import.meta.dirname, 'postgres.sh'), target: '/opt/postgres.sh', readOnly: true }],
        entrypoint: ['sh', '/opt/postgres.sh'],
      });
    case 'temporalio/admin-tools': {
      const cli = { source: production.temporalCli, target: '/opt/cli/temporal', readOnly: true };
      return standIn(folder, { path: [bin, '/opt/cli'], mounts: [executables, cli] });
    }
    case 'temporalio/server': {
      const source = join(production.temporalSource, 'docker', 'scripts', 'sh', 'entrypoint.sh');
      return standIn(folder, {
        path: [bin],
        mounts: [executables, { source, target: '/opt/entrypoint.sh', readOnly: true }],
        workingFolder: '/tmp',
        // Alpine's sh knows what Debian's does not.
        command: ['bash', '/opt/entrypoint.sh'],
      });
    }
    case 'temporalio/ui': {
      const home = '/home/ui-server';
      const mounts = [
        { source: join(production.temporalBin, 'ui-server'), target: `${home}/ui-server`, readOnly: true },
        {
          source: join(production.uiSource, 'config', 'docker.yaml'),
          target: `${home}/config/docker.yaml`,
          readOnly: true,
        },
        {
          source: join(production.uiSource, 'docker', 'start-ui-server.sh'),
          target: `${home}/start-ui-server.sh`,
          readOnly: true,
        },
      ];
      return standIn(folder, { mounts, workingFolder: home, command: ['bash', './start-ui-server.sh'] });
    }
    default:
      throw new Error(`nothing stands in for the image ${reference}`);
  }
}
