import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

import { findTemporalCli } from '../../../demo/temporalCli.js';
import { UserError } from '../../../runtime/errors.js';
import type { Image } from '../containers/buildImage.js';
import { ImageBuilder } from '../containers/buildImage.js';
import { nodeVersion, readDockerfile } from '../containers/dockerfile.js';
import { obtainDebianPackages } from './debianPackages.js';
import type { GoTools } from './goTools.js';
import { obtainGoTools } from './goTools.js';
import { obtainNode } from './nodeDistribution.js';

/** What the tests of production find prepared. */
export interface Production extends GoTools {
  readonly postgresBin: string;
  readonly temporalCli: string;
  readonly serviceImage: Image;
  readonly demoImage: Image;
}

const variable = 'DRIFTLESS_TEST_PRODUCTION';

const imageSchema = z.object({
  root: z.string(),
  mounts: z.array(z.object({ source: z.string(), target: z.string(), readOnly: z.boolean() })),
  path: z.array(z.string()),
  environment: z.record(z.string(), z.string()),
  workingFolder: z.string(),
  user: z.number(),
  entrypoint: z.array(z.string()),
  command: z.array(z.string()),
});
const productionSchema = z.object({
  postgresBin: z.string(),
  temporalCli: z.string(),
  temporalBin: z.string(),
  dockerBin: z.string(),
  temporalSource: z.string(),
  uiSource: z.string(),
  serviceImage: imageSchema,
  demoImage: imageSchema,
});

/** What globalSetup has prepared. */
export function findProduction(): Production {
  return productionSchema.parse(JSON.parse(process.env[variable] ?? 'null'));
}

/**
 * Fetches and builds what production is made of, tells the tests by the environment, and answers how to clear away.
 * @param project the folder of the project
 * @throws UserError when something is missing
 */
export async function prepareProduction(project: string, tell: (text: string) => void): Promise<() => void> {
  if (process.getuid?.() !== 0) throw new UserError('npm run test:production makes containers: it must be run as root');
  const { postgresBin } = await obtainDebianPackages(tell);
  const tools = await obtainGoTools(join(project, 'test', 'production', 'assets'), tell);
  const temporalCli = await findTemporalCli(process.env, tell);
  const stages = await readDockerfile(tools.dockerBin, join(project, 'Dockerfile'));
  const node = await obtainNode(nodeVersion(stages), tell);
  const npmCache = process.env.npm_config_cache ?? join(homedir(), '.npm');
  mkdirSync(npmCache, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'driftless-images-'));
  const clear = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const builder = new ImageBuilder({ stages, context: project, folder, node, npmCache, tell });
    const [serviceImage, demoImage] = [await builder.build('service'), await builder.build('demo')];
    const production: Production = { ...tools, postgresBin, temporalCli, serviceImage, demoImage };
    process.env[variable] = JSON.stringify(production);
    return clear;
  } catch (error) {
    clear();
    throw error;
  }
}
