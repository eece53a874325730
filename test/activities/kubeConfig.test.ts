import { afterAll, describe, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { loadKubeConfig, readKubeConfig } from '../../activities/kubernetes/kubeConfig.js';
import { UserError } from '../../runtime/errors.js';

const folder = mkdtempSync(join(tmpdir(), 'driftless-kubeconfig-'));

interface Contents {
  readonly name: string;
  readonly server?: string;
  readonly currentContext?: string;
}

function text({ name, server = `https://${name}.example`, currentContext = name }: Contents): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': currentContext,
    clusters: [{ name, cluster: { server } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    users: [{ name, user: { token: 'x' } }],
  });
}

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('the kubeconfig', () => {
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('is that of several files whose current-context comes first', () => {
    const paths = [
      file('none', text({ name: 'none', currentContext: '' })),
      file('one', text({ name: 'one' })),
      file('two', text({ name: 'two' })),
    ];
    const kubeConfig = loadKubeConfig({ KUBECONFIG: paths.join(delimiter) });
    expect(kubeConfig.getCurrentCluster()?.server).toBe('https://one.example');
    expect(kubeConfig.getClusters().map(({ name }) => name)).toEqual(['none', 'one', 'two']);
  });

  it('is that of the home directory where KUBECONFIG names none', () => {
    mkdirSync(join(folder, '.kube'));
    file('.kube/config', text({ name: 'home' }));
    const kubeConfig = loadKubeConfig({ KUBECONFIG: '', HOME: folder });
    expect(kubeConfig.getCurrentCluster()?.server).toBe('https://home.example');
  });

  it.each([
    ['a missing one', () => join(folder, 'missing'), 'ENOENT: no such file or directory'],
    ['an empty one', () => file('empty', ''), 'expected a document, but the input is empty'],
    ['another text', () => file('words', 'just words'), 'its current-context names no cluster'],
    ['broken YAML', () => file('broken', 'a: ]'), 'bad indentation of a mapping entry (1:4)'],
    [
      'no current-context',
      () => file('lost', text({ name: 'a', currentContext: '' })),
      'its current-context names no cluster',
    ],
    [
      'a server without TLS',
      () => file('plain', text({ name: 'a', server: 'http://a.example' })),
      'the server http://a.example must be an https URL',
    ],
  ])('is refused by the name of its file: %s', (_, path, why) => {
    const given = path();
    expect(() => readKubeConfig('--kubeconfig', [given])).toThrow(UserError);
    expect(() => readKubeConfig('--kubeconfig', [given])).toThrow(`--kubeconfig ${given}: `);
    expect(() => readKubeConfig('--kubeconfig', [given])).toThrow(why);
  });
});
