import { describe, expect, it } from '@jest/globals';

import { parseList, parseObject } from '../../activities/kubernetes/parse.js';
import { nodeClaimSchema } from '../../karpenter/api.js';

const spec = { nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' } };
const nodeClaim = { metadata: { name: 'a', uid: 'uid-a' }, spec };

describe('an object of the API server', () => {
  it('is read with the defaults of what it leaves out', () => {
    expect(parseObject('NodeClaim', nodeClaimSchema, nodeClaim)).toEqual({
      metadata: { name: 'a', uid: 'uid-a' },
      spec: { ...spec, requirements: [] },
    });
  });

  it('has its timestamps as text, also where a client made Dates of them', () => {
    const created = new Date(Date.UTC(2026, 0, 5));
    const object = { ...nodeClaim, metadata: { ...nodeClaim.metadata, creationTimestamp: created } };
    expect(parseObject('NodeClaim', nodeClaimSchema, object).metadata.creationTimestamp).toBe(
      '2026-01-05T00:00:00.000Z',
    );
  });

  it.each<[string, unknown, RegExp]>([
    ['a field of the wrong type', { ...nodeClaim, status: { providerID: 5 } }, /^NodeClaim a: status\.providerID: /],
    [
      'an item of a list',
      { ...nodeClaim, status: { conditions: [{ type: 'Ready', status: 'true' }] } },
      /^NodeClaim a: status\.conditions\.0\.status: /,
    ],
    ['a missing field', { metadata: { name: 'a' } }, /^NodeClaim a: spec: /],
    ['a missing name', { metadata: {}, spec }, /^NodeClaim \(without a name\): metadata\.name: /],
    ['no object at all', null, /^NodeClaim \(without a name\): /],
  ])('is refused for %s, by kind, name and field', (_, object, message) => {
    expect(() => parseObject('NodeClaim', nodeClaimSchema, object)).toThrow(message);
  });
});

describe('a list of the API server', () => {
  it('has its items, and the resourceVersion to watch from', () => {
    const list = { metadata: { resourceVersion: '17' }, items: [nodeClaim] };
    const { items, resourceVersion } = parseList('NodeClaim', nodeClaimSchema, list);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['a']);
    expect(resourceVersion).toBe('17');
  });

  it.each([{ items: [] }, { metadata: {}, items: [] }])('without a resourceVersion starts anywhere: %j', (list) => {
    expect(parseList('NodeClaim', nodeClaimSchema, list)).toEqual({ items: [], resourceVersion: '' });
  });

  it.each<[string, unknown, RegExp]>([
    ['an item that cannot be read', { items: [nodeClaim, { metadata: { name: 'b' } }] }, /^NodeClaim b: spec: /],
    ['no items', {}, /^list of NodeClaim \(without a name\): items: /],
  ])('is refused for %s', (_, list, message) => {
    expect(() => parseList('NodeClaim', nodeClaimSchema, list)).toThrow(message);
  });
});
