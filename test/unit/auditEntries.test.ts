import { describe, expect, it } from '@jest/globals';

import { clusterAuditEntries } from '../../demo/cluster/auditEntries.js';
import { parseAuditLog } from '../../demo/controlPlane/auditEvents.js';

type Fields = Readonly<Record<string, unknown>>;

const success = { kind: 'Status', status: 'Success' };
let revision = 0;

/** An object as the API server answers with it. */
function object(kind: string, name: string, metadata: Fields = {}, content: Fields = {}): Fields {
  revision += 1;
  const common = {
    name,
    uid: `uid-${name}`,
    resourceVersion: String(revision),
    creationTimestamp: '2026-01-01T00:00:00Z',
  };
  return { apiVersion: 'v1', kind, metadata: { ...common, ...metadata }, ...content };
}

/** A line of an audit log; `atMs` of an hour. */
function line(atMs: number, verb: string, target: string, parts: Fields = {}): string {
  const [resource = '', name, subresource] = target.split('/');
  const stamp = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString().replace('Z', '250Z');
  return `${JSON.stringify({
    kind: 'Event',
    auditID: `${verb}-${target}-${atMs}`,
    stage: 'ResponseComplete',
    verb,
    userAgent: 'test',
    objectRef: { resource, name, subresource, ...(resource === 'pods' ? { namespace: 'default' } : {}) },
    responseStatus: { code: 200 },
    requestReceivedTimestamp: stamp(atMs - 5),
    stageTimestamp: stamp(atMs),
    ...parts,
  })}\n`;
}

function entriesOf(...lines: readonly string[]) {
  return clusterAuditEntries(parseAuditLog(lines.join('')));
}

describe("a kube-apiserver's audit log", () => {
  it('is read with its microseconds, without the line that is still being written', () => {
    const [entry, ...others] = entriesOf(line(1_000, 'list', 'nodes'), line(2_000, 'get', 'nodes/a').slice(0, 40));
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ verb: 'list', resource: 'nodes', userAgent: 'test', status: 200, latencyMs: 5 });
    expect(entry?.at).toBeCloseTo(Date.UTC(2026, 0, 1) + 1_000.25, 3);
  });

  it('tells what a create has left, by the name that the server has made up', () => {
    const pod = object('Pod', 'web-x1', { generateName: 'web-' });
    const [entry] = entriesOf(line(1, 'create', 'pods', { responseStatus: { code: 201 }, responseObject: pod }));
    expect(entry).toMatchObject({ verb: 'create', name: 'web-x1', object: pod });
  });

  it('notes a watch when it starts, once', () => {
    const entries = entriesOf(
      line(1, 'watch', 'nodes', { stage: 'ResponseStarted' }),
      line(9_000, 'watch', 'nodes'),
      line(9_001, 'watch', 'nodes', { responseStatus: { code: 410 } }),
    );
    expect(entries.map(({ verb, status }) => [verb, status])).toEqual([
      ['watch', 200],
      ['watch', 410],
    ]);
  });

  it('knows an evicted pod as one that is being deleted, and a bound one by its node', () => {
    const entries = entriesOf(
      line(1, 'create', 'pods', { responseObject: object('Pod', 'web', {}, { spec: {} }) }),
      line(2, 'create', 'pods/web/binding', { requestObject: { target: { name: 'node-a' } }, responseObject: success }),
      line(3, 'create', 'pods/web/eviction', { responseStatus: { code: 429 }, responseObject: { kind: 'Status' } }),
      line(4, 'create', 'pods/web/eviction', { responseStatus: { code: 201 }, responseObject: success }),
    );
    expect(entries.map(({ verb }) => verb)).toEqual(['create', 'bind', 'evict', 'evict']);
    expect(entries[1]?.object).toMatchObject({ spec: { nodeName: 'node-a' } });
    expect(entries[2]).not.toHaveProperty('object');
    expect(entries[3]).toMatchObject({ object: { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } } });
    expect(entries[3]).not.toHaveProperty('removed');
  });

  it('tells that a delete took the object away at once, when a Status is the answer', () => {
    const node = object('Node', 'a');
    const [, gone] = entriesOf(
      line(1, 'create', 'nodes', { responseObject: node }),
      line(2, 'delete', 'nodes/a', { responseObject: success }),
    );
    expect(gone).toMatchObject({ verb: 'delete', object: node, removed: true });
  });

  it('tells that a finalizer holds the object, and which write took it away', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const held = object('NodeClaim', 'a', { deletionTimestamp, deletionGracePeriodSeconds: 0, finalizers: ['f'] });
    const released = object('NodeClaim', 'a', { deletionTimestamp, deletionGracePeriodSeconds: 0 });
    const entries = entriesOf(
      line(1, 'delete', 'nodeclaims/a', { responseObject: held }),
      line(2, 'patch', 'nodeclaims/a', { responseObject: released }),
    );
    expect(entries.map(({ removed }) => removed)).toEqual([undefined, true]);
  });

  it('tells that the grace period of a pod holds it until its kubelet deletes it', () => {
    const deletionTimestamp = '2026-01-01T00:00:30Z';
    const entries = entriesOf(
      line(1, 'delete', 'pods/web', {
        responseObject: object('Pod', 'web', { deletionTimestamp, deletionGracePeriodSeconds: 30 }),
      }),
      line(2, 'delete', 'pods/web', {
        responseObject: object('Pod', 'web', { deletionTimestamp, deletionGracePeriodSeconds: 0 }),
      }),
    );
    expect(entries.map(({ removed }) => removed)).toEqual([undefined, true]);
  });

  it('refuses to judge a collection that was deleted', () => {
    expect(() => entriesOf(line(1, 'deletecollection', 'pods', { responseObject: success }))).toThrow(
      'test has deleted a collection of pods',
    );
  });
});
