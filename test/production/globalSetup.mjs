import { fileURLToPath } from 'node:url';

import { prepareProduction } from '../../dist/test/production/setup/production.js';

/** One set of tools and images for all test files. */
export default async function globalSetup() {
  const project = fileURLToPath(new URL('../..', import.meta.url));
  globalThis.clearProduction = await prepareProduction(project, (text) => {
    console.error(text);
  });
}
