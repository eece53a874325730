import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';
import { builtinModules } from 'node:module';

/** The rooms in the order of docs/architecture.md: a room imports only from those before it. */
const rooms = [
  'runtime',
  'karpenter',
  'workflows',
  'activities',
  'worker',
  'client',
  'simulator',
  'demo',
  'bin',
  'bench',
];
/** These three stand side by side: only demo and bin compose them. */
const siblings = ['worker', 'client', 'simulator'];

const roomZones = rooms.flatMap((room, index) =>
  rooms
    .filter((other, at) => other !== room && (at > index || (siblings.includes(room) && siblings.includes(other))))
    .map((other) => ({
      target: `./${room}`,
      from: `./${other}`,
      message: `${room}/ may import only from the rooms above it (docs/architecture.md)`,
    })),
);

export default tseslint.config(
  { ignores: ['dist/**', 'coverage/**', 'node_modules/**'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    plugins: { 'import-x': importX },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    settings: {
      'import-x/resolver-next': [
        createNodeResolver({ extensions: ['.ts', '.js'], extensionAlias: { '.js': ['.ts', '.js'] } }),
      ],
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts'] },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'never' }],
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      // client-node's models are classes in name only: object literals are how its users make them.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      'import-x/no-cycle': ['error', { ignoreExternal: true }],
      'import-x/no-default-export': 'error',
      'import-x/no-restricted-paths': ['error', { zones: roomZones }],
      'no-restricted-syntax': [
        'error',
        { selector: 'TSEnumDeclaration', message: 'Use a discriminated union of string literals.' },
      ],
    },
  },
  {
    files: ['karpenter/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['../*'], message: 'karpenter/ imports no other room: it is pure.' }] },
      ],
    },
  },
  {
    files: ['karpenter/**/*.ts', 'workflows/**/*.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...['Temporal', 'performance'].map((name) => ({
          name,
          message: 'In a workflow only Date is workflow time: a replay would read another clock.',
        })),
      ],
    },
  },
  {
    files: ['workflows/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [...builtinModules, ...builtinModules.map((name) => `node:${name}`)].map((name) => ({
            name,
            message: 'Workflow code imports pure modules only.',
          })),
          patterns: [
            {
              group: ['@azure/*', '@kubernetes/*', '@temporalio/worker', '@temporalio/client'],
              message: 'Workflow code imports pure modules only.',
            },
          ],
        },
      ],
    },
  },
  { files: ['*.js', '**/*.mjs'], languageOptions: { globals: { console: 'readonly', process: 'readonly' } } },
);
