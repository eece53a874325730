import { describe, expect, it } from '@jest/globals';
import { InvalidArgumentError } from 'commander';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  parseDeploymentVersion,
  parseDurationMs,
  parseHttpsUrl,
  parseNamespacedName,
  parsePort,
  parsePositiveInteger,
  parsePositiveNumber,
  parseWholeNumber,
  readTextFile,
} from '../../runtime/optionParsers.js';

interface ParserTable {
  readonly parse: (text: string) => unknown;
  readonly accepts: readonly (readonly [string, unknown])[];
  readonly refuses: readonly string[];
  /** What the refusal says after the option's name. */
  readonly says: string;
}

const parsers: Readonly<Record<string, ParserTable>> = {
  'a duration': {
    parse: parseDurationMs,
    accepts: [
      ['500ms', 500],
      ['90s', 90_000],
      ['15m', 900_000],
      ['1h', 3_600_000],
      ['1h30m', 5_400_000],
      ['1m30s250ms', 90_250],
      ['1.5s', 1500],
      ['0s', 0],
    ],
    refuses: ['', '5', '-5s', '5 s', '5S', '1d', 's', '1.s', '5s ', '5m30'],
    says: 'It must be a duration such as 15m, 90s or 500ms.',
  },
  'the version of a worker deployment': {
    parse: parseDeploymentVersion,
    accepts: [
      ['driftless.1.4.0', { deploymentName: 'driftless', buildId: '1.4.0' }],
      ['driftless-aks.4f2c1e', { deploymentName: 'driftless-aks', buildId: '4f2c1e' }],
    ],
    refuses: ['', 'driftless', '.1.4.0', 'driftless.', 'drift:less.1', 'driftless.1 4'],
    says: 'It must be <deployment name>.<build id>, such as driftless.1.4.0.',
  },
  'a number of 1 or more': {
    parse: parsePositiveInteger,
    accepts: [
      ['1', 1],
      ['500', 500],
    ],
    refuses: ['0', '-1', '01', '1.5', '1e3', '', 'one', ' 1'],
    says: 'It must be a whole number of 1 or more.',
  },
  'a whole number': {
    parse: parseWholeNumber,
    accepts: [
      ['0', 0],
      ['7', 7],
    ],
    refuses: ['-1', '1.5', '', 'x', '1 '],
    says: 'It must be a whole number of 0 or more.',
  },
  'a port': {
    parse: parsePort,
    accepts: [
      ['0', 0],
      ['7233', 7233],
      ['65535', 65_535],
    ],
    refuses: ['65536', '-1', '', 'http', '80.5'],
    says: 'It must be a port number, 0 to 65535.',
  },
  'a number above 0': {
    parse: parsePositiveNumber,
    accepts: [
      ['20', 20],
      ['0.5', 0.5],
    ],
    refuses: ['0', '-1', '', 'fast', 'Infinity', 'NaN', '1,5'],
    says: 'It must be a number above 0.',
  },
  'an https URL': {
    parse: parseHttpsUrl,
    accepts: [['https://management.azure.com', 'https://management.azure.com']],
    refuses: ['http://management.azure.com', 'management.azure.com', '//x', ''],
    says: 'It must be an https URL.',
  },
  'a namespaced name': {
    parse: parseNamespacedName,
    accepts: [['kube-system/template', { namespace: 'kube-system', name: 'template' }]],
    refuses: ['template', 'kube-system/', '/template', 'a/b/c', ''],
    says: 'It must be namespace/name.',
  },
};

describe.each(Object.entries(parsers))('%s', (_, { parse, accepts, refuses, says }) => {
  it.each(accepts)('is read from "%s"', (text, expected) => {
    expect(parse(text)).toEqual(expected);
  });

  it.each(refuses)('is not "%s": the refusal says what it must be', (text) => {
    expect(() => parse(text)).toThrow(new InvalidArgumentError(says));
  });
});

describe('a text file', () => {
  it('is read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'driftless-unit-'));
    try {
      writeFileSync(join(folder, 'ca.pem'), 'text of the file\n');
      expect(readTextFile(join(folder, 'ca.pem'))).toBe('text of the file\n');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each([
    ['that is missing', join(tmpdir(), 'no-such-folder', 'ca.pem')],
    ['that is a folder', tmpdir()],
  ])('%s is refused by its name', (_, path) => {
    expect(() => readTextFile(path)).toThrow(InvalidArgumentError);
    expect(() => readTextFile(path)).toThrow(`The file ${path} cannot be read (`);
  });
});
