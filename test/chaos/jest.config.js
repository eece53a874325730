import { jestConfig } from '../../jest.config.js';

/** @type {import('jest').Config} */
export const chaosConfig = {
  ...jestConfig,
  rootDir: '../..',
  maxWorkers: 1,
  testMatch: ['<rootDir>/test/chaos/chaos.ts'],
  // Each run has a Temporal server of its own.
  globalSetup: undefined,
  globalTeardown: undefined,
  // The runs say for themselves how they went.
  verbose: false,
};

export default chaosConfig;
