import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { workflowBundlePath } from './workflowBundle.js';

/** Run by the build: bundles the workflows once, so that no worker spends its start on it. */
const workflowsPath = fileURLToPath(new URL('../workflows/index.js', import.meta.url));
const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
await writeFile(workflowBundlePath, code);
