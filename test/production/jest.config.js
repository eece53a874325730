import { jestConfig } from '../../jest.config.js';

/** What is to run in production, run as far as it goes without a container engine. @type {import('jest').Config} */
export const productionConfig = {
  ...jestConfig,
  rootDir: '../..',
  // One stack, and two cores for its processes.
  maxWorkers: 1,
  testTimeout: 60_000,
  testMatch: ['<rootDir>/test/production/*.test.ts'],
  testPathIgnorePatterns: [],
  globalSetup: '<rootDir>/test/production/globalSetup.mjs',
  globalTeardown: '<rootDir>/test/production/globalTeardown.mjs',
};

export default productionConfig;
