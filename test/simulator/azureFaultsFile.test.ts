import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { UserError } from '../../runtime/errors.js';
import { readFaultsFile } from '../../simulator/azure/faults.js';
import { rejection } from './azureHarness.js';

describe('a faults file', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'faults-'));
  });
  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  async function write(content: string): Promise<string> {
    const path = join(directory, 'faults.json');
    await writeFile(path, content);
    return path;
  }

  it('is read as it stands', async () => {
    const faults = [
      { on: 'listVirtualMachines', count: 3, then: { kind: 'hang' } },
      { on: 'createVirtualMachine', name: '^a', after: 2, then: { kind: 'vanish', afterSeconds: 60 } },
    ];
    expect(await readFaultsFile(await write(JSON.stringify({ faults })))).toEqual(faults);
  });

  const fails = { kind: 'requestFails', status: 500, code: 'c', message: 'm' };
  it.each([
    ['no list', {}, /faults: .*expected array/],
    ['an unknown point', { faults: [{ on: 'create', then: fails }] }, /faults\[0\]\.on: .*"createVirtualMachine"/],
    [
      'an unknown kind',
      { faults: [{ on: 'getOperation', then: { kind: 'boom' } }] },
      /faults\[0\]\.then(\.kind)?: .*operationFails/,
    ],
    ['no effect', { faults: [{ on: 'getOperation' }] }, /faults\[0\]\.then: .*kind/],
    [
      'a wrong status',
      {
        faults: [
          { on: 'getOperation', then: fails },
          { on: 'getOperation', then: { ...fails, status: 200 } },
        ],
      },
      /faults\[1\]\.then\.status: .*400/,
    ],
    [
      'a text for a number',
      { faults: [{ on: 'getOperation', count: '1', then: fails }] },
      /faults\[0\]\.count: .*number/,
    ],
    [
      'an unknown field',
      { faults: [{ on: 'getOperation', times: 2, then: fails }] },
      /"times"; known here: on, name, after/,
    ],
    ['a broken name', { faults: [{ on: 'getOperation', name: '(', then: fails }] }, /name: .*regular expression/],
    [
      'an effect in the wrong place',
      { faults: [{ on: 'getVirtualMachine', then: { kind: 'vanish', afterSeconds: 1 } }] },
      /faults\[0\]\.on: vanish can only happen on createVirtualMachine/,
    ],
    [
      'a name for a list',
      { faults: [{ on: 'listVirtualMachines', name: 'x', then: fails }] },
      /faults\[0\]\.name: .*leave it out/,
    ],
  ])('with %s is refused, saying where and what would be right', async (_what, content, expected) => {
    const path = await write(JSON.stringify(content));
    const error = await rejection(readFaultsFile(path));
    expect(error).toBeInstanceOf(UserError);
    expect(error).toMatchObject({ message: expect.stringMatching(expected) });
    expect(error).toMatchObject({ message: expect.stringContaining(`faults file ${path}: `) });
  });

  it('that is missing or no JSON is refused, naming it', async () => {
    const broken = await write('{');
    for (const path of [broken, join(directory, 'none.json')]) {
      const error = await rejection(readFaultsFile(path));
      expect(error).toBeInstanceOf(UserError);
      expect(error).toMatchObject({ message: expect.stringContaining(path) });
    }
  });
});
