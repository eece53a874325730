/** @type {import('jest').Config} */
export const jestConfig = {
  testEnvironment: 'node',
  // The end-to-end tests mostly wait for simulated time: two of them fit on two cores.
  maxWorkers: 2,
  // For what hangs: on a slow and busy machine a process of ours takes seconds to start, and a rollout more.
  testTimeout: 90_000,
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // These need a real API server, containers, or take long: npm run test:kubernetes, test:production, test:slow.
  testPathIgnorePatterns: ['<rootDir>/test/kubernetes/real/', '<rootDir>/test/production/', '\\.slow\\.test\\.ts$'],
  globalSetup: '<rootDir>/test/globalSetup.mjs',
  globalTeardown: '<rootDir>/test/globalTeardown.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
  },
};

export default jestConfig;
