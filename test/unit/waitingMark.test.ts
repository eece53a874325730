import { describe, expect, it } from '@jest/globals';

import { admit } from '../../karpenter/admission.js';
import { findMarkChanges } from '../../karpenter/waitingMark.js';
import { admissionInputOf, machineOf, poolOf } from './poolFixture.js';

const marked = { isMarkedWaiting: true } as const;
const driftedSince = '2026-01-05T12:00:00Z';

describe('the soft taint', () => {
  it('is put on those that wait, and taken off those that do not, and nobody else is touched', () => {
    const pool = poolOf([
      machineOf('waits'),
      machineOf('waits-already', marked),
      machineOf('waits-no-more', marked),
      machineOf('never-waited'),
    ]);
    expect(findMarkChanges(pool, new Set(['uid-waits', 'uid-waits-already']), new Set())).toEqual([
      { node: 'aks-waits', isWaiting: true },
      { node: 'aks-waits-no-more', isWaiting: false },
    ]);
  });

  it('is left to the workflow of a node in flight', () => {
    const pool = poolOf([machineOf('a', marked), machineOf('b')]);
    expect(findMarkChanges(pool, new Set(['uid-b']), new Set(['a', 'b']))).toEqual([]);
  });

  it('is for Nodes that are there', () => {
    expect(findMarkChanges(poolOf([machineOf('a', { hasNode: false })]), new Set(['uid-a']), new Set())).toEqual([]);
  });

  it('is for nobody in a pool that is left alone, and taken off there', () => {
    const machines = [machineOf('a', { ...marked, driftedSince: '2026-01-05T12:00:00Z' })];
    const markChanges = (annotations: Record<string, string>) =>
      admit(poolOf(machines, { annotations, budgets: [{ nodes: '0' }] }), admissionInputOf(Date.UTC(2026, 0, 6)))
        .markChanges;
    expect(markChanges({ 'driftless.dev/managed': 'true' })).toEqual([]);
    expect(markChanges({})).toEqual([{ node: 'aks-a', isWaiting: false }]);
  });

  it('is left alone on a node that starts, is in flight or is being deleted: who does that takes it off', () => {
    const pool = poolOf(
      [
        machineOf('in-flight', { driftedSince, isMarkedWaiting: true }),
        machineOf('starts', { driftedSince, isMarkedWaiting: true }),
        machineOf('deleted', { driftedSince, isMarkedWaiting: true, isDeleted: true }),
      ],
      { budgets: [{ nodes: '3' }] },
    );
    const admission = admit(pool, admissionInputOf(Date.UTC(2026, 0, 6), { inFlight: new Set(['in-flight']) }));
    expect(admission.start.map(({ nodeClaim }) => nodeClaim)).toEqual(['starts']);
    expect(admission.markChanges).toEqual([]);
  });
});
