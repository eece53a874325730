import { describe, expect, it } from '@jest/globals';

import { joinPool, takeCensus } from '../../karpenter/pool.js';
import type { MachineShape } from './poolFixture.js';
import { machineOf, machinesOf, nodePoolOf, poolOf } from './poolFixture.js';

const nobody = new Set<string>();

describe('the census of a pool', () => {
  it.each<[string, MachineShape, { nodes: number; disrupted: number }]>([
    ['a node at work counts and is not disrupted', {}, { nodes: 1, disrupted: 0 }],
    ['drift alone disrupts nothing', { driftedSince: '2026-01-01T00:00:00Z' }, { nodes: 1, disrupted: 0 }],
    ['a tainted node is disrupted', { isTainted: true }, { nodes: 1, disrupted: 1 }],
    ['a node that is not Ready is disrupted', { isReady: false }, { nodes: 1, disrupted: 1 }],
    ['a NodeClaim being deleted is disrupted', { isDeleted: true }, { nodes: 1, disrupted: 1 }],
    ['a Node being deleted is disrupted', { isNodeDeleted: true }, { nodes: 1, disrupted: 1 }],
    ['a NodeClaim without a Node does not count', { hasNode: false }, { nodes: 0, disrupted: 0 }],
    ['a Node that is not Initialized does not count', { isInitialized: false }, { nodes: 0, disrupted: 0 }],
    [
      'a Node that is not Initialized is not disrupted either',
      { isInitialized: false, isTainted: true, isReady: false, isDeleted: true },
      { nodes: 0, disrupted: 0 },
    ],
    [
      'an instance that is terminating counts for nothing: its permit is free',
      { isInstanceTerminating: true, isTainted: true, isDeleted: true },
      { nodes: 0, disrupted: 0 },
    ],
  ])('%s', (_, shape, expected) => {
    const { nodes, disrupted } = takeCensus(poolOf([machineOf('a', shape)]), nobody);
    expect({ nodes, disrupted: disrupted.length }).toEqual(expected);
  });

  it('counts a NodeClaim that a workflow replaces as disrupted before anything shows', () => {
    const census = takeCensus(poolOf([machineOf('a'), machineOf('b')]), new Set(['b', 'not-of-this-pool']));
    expect(census).toEqual({ nodes: 2, disrupted: ['b'], onlyNotReady: [] });
  });

  it('frees the permit of one in flight whose instance is terminating', () => {
    const pool = poolOf([machineOf('a'), machineOf('b', { isInstanceTerminating: true })]);
    expect(takeCensus(pool, new Set(['b']))).toEqual({ nodes: 1, disrupted: [], onlyNotReady: [] });
  });

  it('is a union by name: disrupted in four ways at once is disrupted once', () => {
    const all = machineOf('a', { isTainted: true, isReady: false, isDeleted: true, isNodeDeleted: true });
    expect(takeCensus(poolOf([all, ...machinesOf('b', 9)]), new Set(['a']))).toEqual({
      nodes: 10,
      disrupted: ['a'],
      onlyNotReady: [],
    });
  });

  it('tells those that are only not ready from those that somebody disrupts', () => {
    const pool = poolOf([
      machineOf('a', { isReady: false }),
      machineOf('b', { isReady: false, isTainted: true }),
      machineOf('c', { isReady: false }),
    ]);
    expect(takeCensus(pool, new Set(['c']))).toEqual({ nodes: 3, disrupted: ['a', 'b', 'c'], onlyNotReady: ['a'] });
  });

  it('counts a node that reboots, Initialized or not, and as disrupted', () => {
    const trueConditions = ['Rebooting'];
    const pool = poolOf([
      machineOf('a', { trueConditions }),
      machineOf('b', { trueConditions, isInitialized: false, isReady: false }),
    ]);
    expect(takeCensus(pool, nobody)).toEqual({ nodes: 2, disrupted: ['a', 'b'], onlyNotReady: [] });
  });

  it('takes a Node without a Ready condition for not ready', () => {
    const machine = machineOf('a');
    const node = machine.node && { ...machine.node, status: {} };
    expect(takeCensus(poolOf([{ ...machine, node }]), nobody).disrupted).toEqual(['a']);
  });
});

describe('joining NodeClaims and Nodes', () => {
  const { nodeClaim, node } = machineOf('a');

  function nodeWith(name: string, providerID: string | undefined) {
    return { metadata: { name, uid: `uid-${name}` }, spec: { providerID } };
  }

  it('goes by the name in the status of the NodeClaim', () => {
    const nodes = [nodeWith('other', undefined), ...(node === undefined ? [] : [node])];
    expect(joinPool({ nodePool: nodePoolOf(), nodeClaims: [nodeClaim], nodes: nodes }).machines).toEqual([
      { nodeClaim, node, pods: [] },
    ]);
  });

  it.each([
    ['no name is known yet', undefined],
    ['no Node has that name', 'aks-elsewhere'],
  ])('goes by the providerID when %s', (_, nodeName) => {
    const claim = { ...nodeClaim, status: { nodeName, providerID: 'azure:///vm/a' } };
    const found = nodeWith('x', 'azure:///vm/a');
    const { machines } = joinPool({
      nodePool: nodePoolOf(),
      nodeClaims: [claim],
      nodes: [nodeWith('y', 'azure:///vm/b'), found],
    });
    expect(machines).toEqual([{ nodeClaim: claim, node: found, pods: [] }]);
  });

  it('never joins a NodeClaim without providerID to a Node without one', () => {
    const claim = { ...nodeClaim, status: {} };
    expect(
      joinPool({ nodePool: nodePoolOf(), nodeClaims: [claim], nodes: [nodeWith('x', undefined)] }).machines,
    ).toEqual([{ nodeClaim: claim, node: undefined, pods: [] }]);
  });

  it('leaves the NodeClaims of other pools, or of none, out', () => {
    const labelled = (labels?: Record<string, string>) => ({
      ...nodeClaim,
      metadata: { ...nodeClaim.metadata, labels },
    });
    const others = [labelled({ 'karpenter.sh/nodepool': 'gpu' }), labelled({}), labelled(undefined)];
    expect(joinPool({ nodePool: nodePoolOf(), nodeClaims: others, nodes: [] }).machines).toEqual([]);
  });
});
