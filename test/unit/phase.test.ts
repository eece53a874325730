import { describe, expect, it } from '@jest/globals';

import { readPhases } from '../../karpenter/phase.js';
import type { MachineShape } from './poolFixture.js';
import { machineOf, poolOf } from './poolFixture.js';

const nobody = new Set<string>();
const replaces = 'uid-old';

function phaseWith(old: MachineShape, ...replacements: readonly MachineShape[]) {
  const machines = replacements.map((shape, index) => machineOf(`new-${index}`, { replaces, ...shape }));
  return readPhases(poolOf([...machines, machineOf('old', old), machineOf('other')]), nobody);
}

describe('the phase of a replacement, read from the cluster alone', () => {
  it.each<[string, MachineShape, readonly MachineShape[], string | undefined]>([
    ['Reserve', { isTainted: true }, [], undefined],
    ['Launch', { isTainted: true }, [{ hasNode: false }], 'new-0'],
    ['Initialize', { isTainted: true }, [{ trueConditions: ['Registered'] }], 'new-0'],
    ['Drain', { isTainted: true }, [{ trueConditions: ['Registered', 'Initialized'] }], 'new-0'],
    ['Delete', { isTainted: true, isDeleted: true }, [{ trueConditions: ['Registered', 'Initialized'] }], 'new-0'],
    ['Delete', { isDeleted: true }, [{ trueConditions: ['Registered', 'Initialized'] }], 'new-0'],
  ])('%s', (phase, old, replacements, replacement) => {
    expect(phaseWith(old, ...replacements)).toEqual([{ nodeClaim: 'old', uid: 'uid-old', phase, replacement }]);
  });

  it('goes back to Reserve when a replacement that failed is being removed', () => {
    expect(phaseWith({ isTainted: true }, { hasNode: false, isDeleted: true })).toMatchObject([
      { phase: 'Reserve', replacement: undefined },
    ]);
  });

  it('is that of the newest replacement, in whatever order they are listed', () => {
    const older: MachineShape = { hasNode: false, createdAt: '2026-01-05T12:00:00Z' };
    const newer: MachineShape = { trueConditions: ['Registered'], createdAt: '2026-01-05T12:01:00Z' };
    expect(phaseWith({ isTainted: true }, older, newer)).toMatchObject([{ phase: 'Initialize', replacement: 'new-1' }]);
    expect(phaseWith({ isTainted: true }, newer, older)).toMatchObject([{ phase: 'Initialize', replacement: 'new-0' }]);
  });

  it('has a row for one in flight of which nothing shows yet', () => {
    expect(readPhases(poolOf([machineOf('a'), machineOf('b')]), new Set(['b']))).toEqual([
      { nodeClaim: 'b', uid: 'uid-b', phase: 'Reserve', replacement: undefined },
    ]);
  });

  it('has no row for a node that somebody else deletes', () => {
    expect(phaseWith({ isDeleted: true })).toEqual([]);
  });
});
