import { describe, expect, it } from '@jest/globals';

import { admit } from '../../karpenter/admission.js';
import { admissionInputOf, machineOf, poolOf } from './poolFixture.js';

const driftedSince = '2026-01-05T12:00:00Z';
const atMs = Date.parse(driftedSince);
const budgets = [{ nodes: '1' }];

describe('the soft taint of waiting nodes', () => {
  it('goes onto those that wait, and off those that do not', () => {
    const pool = poolOf(
      [
        machineOf('a', { driftedSince }),
        machineOf('b', { driftedSince }),
        machineOf('c', { driftedSince, isMarkedWaiting: true }),
        machineOf('healed', { isMarkedWaiting: true }),
        machineOf('healthy'),
      ],
      { budgets },
    );
    expect(admit(pool, admissionInputOf(atMs)).markChanges).toEqual([
      { node: 'aks-b', isWaiting: true },
      { node: 'aks-healed', isWaiting: false },
    ]);
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
    const admission = admit(pool, admissionInputOf(atMs, { inFlight: new Set(['in-flight']) }));
    expect(admission.start.map(({ nodeClaim }) => nodeClaim)).toEqual(['starts']);
    expect(admission.markChanges).toEqual([]);
  });
});
