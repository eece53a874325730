import { jestConfig } from '../../jest.config.js';

/** What runs against a real kube-apiserver; the conformance suite also runs with all other tests, then in memory. */
export const kubernetesJestConfig = {
  ...jestConfig,
  rootDir: '../..',
  // One control plane, and two cores for its four processes and the tests.
  maxWorkers: 1,
  testMatch: ['<rootDir>/test/kubernetes/{conformance,real}/*.test.ts'],
  testPathIgnorePatterns: [],
  globalSetup: '<rootDir>/test/kubernetes/globalSetup.mjs',
  globalTeardown: '<rootDir>/test/kubernetes/globalTeardown.mjs',
};

export default kubernetesJestConfig;
