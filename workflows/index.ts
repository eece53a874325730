/** What a worker runs: every exported function is a workflow. */
export { nodePoolRollout } from './nodePoolRollout.js';
export { replaceNode } from './replaceNode.js';
export { sweepOrphans } from './sweepOrphans.js';
