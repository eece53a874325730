import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { UserError } from '../runtime/errors.js';

/** Where the build puts the bundle of the workflows, beside the compiled rooms. */
export const workflowBundlePath = fileURLToPath(new URL('../workflowBundle.js', import.meta.url));

/** @throws UserError when the project has not been built */
export function findWorkflowBundle(): string {
  if (!existsSync(workflowBundlePath)) throw new UserError('the workflow bundle is missing: run "npm run build"');
  return workflowBundlePath;
}
