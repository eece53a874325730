import { jestConfig } from './jest.config.js';

/** The suites that are too long for `npm test`. @type {import('jest').Config} */
export default { ...jestConfig, testMatch: ['<rootDir>/test/**/*.slow.test.ts'], testPathIgnorePatterns: [] };
