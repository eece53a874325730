import { describe, expect, it } from '@jest/globals';

import type { AdmissionInput } from '../../karpenter/admission.js';
import { admit, maxInFlight } from '../../karpenter/admission.js';
import { takeCensus } from '../../karpenter/pool.js';
import type { MachineShape, NodePoolShape } from './poolFixture.js';
import { admissionInputOf, machineOf, machinesOf, poolOf } from './poolFixture.js';
import { Random } from './random.js';

const driftedSince = '2026-01-05T12:00:00Z';

function inputOf(
  names: Partial<Record<'inFlight' | 'first' | 'last' | 'held', readonly string[]>> = {},
): AdmissionInput {
  return admissionInputOf(Date.parse(driftedSince), {
    inFlight: new Set(names.inFlight),
    first: new Set(names.first),
    last: new Set(names.last),
    held: new Set(names.held),
  });
}

function namesOf(candidates: readonly { readonly nodeClaim: string }[]): string[] {
  return candidates.map(({ nodeClaim }) => nodeClaim);
}

describe('admission', () => {
  it('fills the budget of the reported case at once: ten drifted, budget 5, five start', () => {
    const admission = admit(poolOf(machinesOf('n', 10, { driftedSince }), { budgets: [{ nodes: '5' }] }), inputOf());
    expect(namesOf(admission.start)).toEqual(['n-0', 'n-1', 'n-2', 'n-3', 'n-4']);
    expect(namesOf(admission.waiting)).toEqual(['n-5', 'n-6', 'n-7', 'n-8', 'n-9']);
    expect(admission).toMatchObject({
      nodes: 10,
      disrupted: [],
      allowances: [{ reason: 'Drifted', allowed: 5 }],
      closed: undefined,
    });
  });

  it('subtracts who is in flight and who is disrupted by anybody, nobody twice', () => {
    const pool = poolOf(
      [
        machineOf('tainted', { driftedSince, isTainted: true }),
        machineOf('not-ready', { isReady: false }),
        ...machinesOf('n', 8, { driftedSince }),
      ],
      { budgets: [{ nodes: '5' }] },
    );
    const admission = admit(pool, inputOf({ inFlight: ['tainted', 'n-0'] }));
    expect(admission.disrupted).toEqual(['n-0', 'not-ready', 'tainted']);
    expect(namesOf(admission.start)).toEqual(['n-1', 'n-2']);
  });

  it('starts nobody when more are disrupted than the budget allows', () => {
    const pool = poolOf([...machinesOf('down', 4, { isReady: false }), ...machinesOf('n', 6, { driftedSince })], {
      budgets: [{ nodes: '2' }],
    });
    expect(admit(pool, inputOf())).toMatchObject({ start: [], waiting: { length: 6 } });
  });

  it('r117: starts nobody in a pool that is being deleted, and counts what others delete', () => {
    const budgets = [{ nodes: '30%' }];
    const drifted = machinesOf('n', 7, { driftedSince });
    const deletedByOthers = machinesOf('gone', 3, { driftedSince, isDeleted: true });
    expect(admit(poolOf([...deletedByOthers, ...drifted], { budgets }), inputOf())).toMatchObject({
      disrupted: ['gone-0', 'gone-1', 'gone-2'],
      start: [],
      waiting: { length: 7 },
    });

    const inFlight = ['n-0', 'n-1', 'n-2'];
    const machines = machinesOf('n', 10, { driftedSince, isDeleted: true });
    const admission = admit(poolOf(machines, { budgets, isDeleted: true }), inputOf({ inFlight }));
    expect(admission.disrupted).toHaveLength(10);
    expect(admission).toMatchObject({ start: [], markChanges: [] });
    expect(admission.closed).toContain('is being deleted');
  });

  it('starts everybody when no budget bounds the reason', () => {
    const pool = poolOf(machinesOf('n', 6, { driftedSince }), { budgets: [] });
    expect(admit(pool, inputOf())).toMatchObject({ start: { length: 6 }, allowances: [{ allowed: null }] });
  });

  it(`keeps at most ${maxInFlight} in flight, whatever the budget says`, () => {
    const pool = poolOf(machinesOf('n', maxInFlight + 20, { driftedSince }), { budgets: [] });
    const inFlight = Array.from({ length: maxInFlight - 3 }, (_, index) => `n-${index}`);
    expect(admit(pool, inputOf({ inFlight })).start).toHaveLength(3);
  });

  it('lets people’s retries go first, those that failed last, and gives held ones no permit', () => {
    const pool = poolOf(
      ['failed', 'held', 'old', 'retried'].map((name, index) =>
        machineOf(name, { driftedSince: `2026-01-05T12:00:0${index}Z` }),
      ),
      { budgets: [{ nodes: '2' }] },
    );
    const input = inputOf({ first: ['uid-retried'], last: ['uid-failed', 'uid-retried'], held: ['uid-held'] });
    const { start, waiting } = admit(pool, input);
    expect(namesOf(start)).toEqual(['retried', 'old']);
    expect(namesOf(waiting)).toEqual(['failed']);
  });

  it('shows blocked candidates with the reason; they hold no permit', () => {
    const pool = poolOf(
      [machineOf('kept', { driftedSince, doNotDisrupt: 'true' }), machineOf('free', { driftedSince })],
      {
        budgets: [{ nodes: '1' }],
      },
    );
    const { start, blocked } = admit(pool, inputOf());
    expect(namesOf(start)).toEqual(['free']);
    expect(blocked).toMatchObject([
      { nodeClaim: 'kept', uid: 'uid-kept', why: 'its Node is annotated karpenter.sh/do-not-disrupt' },
    ]);
  });

  it('does not show as blocked who is in flight and being deleted', () => {
    const pool = poolOf([machineOf('a', { driftedSince, isDeleted: true })]);
    expect(admit(pool, inputOf({ inFlight: ['a'] })).blocked).toEqual([]);
  });

  it.each<[string, NodePoolShape, RegExp]>([
    ['is being deleted', { isDeleted: true }, /^NodePool general-purpose is being deleted$/],
    ['is not handed over', { annotations: {} }, /not annotated driftless\.dev\/managed: "true"$/],
    ['is handed over with another word', { annotations: { 'driftless.dev/managed': 'yes' } }, /not annotated/],
    [
      'has a budget that cannot be read',
      { budgets: [{ nodes: '5' }, { nodes: 'half' }] },
      /spec\.disruption\.budgets\[1\]\.nodes "half": must be a whole number/,
    ],
  ])('closes a pool that %s and says why', (_, nodePool, why) => {
    const admission = admit(poolOf(machinesOf('n', 3, { driftedSince }), nodePool), inputOf({ first: ['uid-n-0'] }));
    expect(admission.closed).toMatch(why);
    expect(namesOf(admission.start)).toEqual([]);
    expect(namesOf(admission.waiting)).toHaveLength(3);
  });

  it('never exceeds the budget, and never leaves a permit unused, for random pools', () => {
    const random = new Random(1861);
    const flag = (oneIn: number): true | undefined => (random.below(oneIn) === 0 ? true : undefined);
    for (let round = 0; round < 500; round += 1) {
      const machines = Array.from({ length: 1 + random.below(30) }, (_, index) => {
        const shape: MachineShape = {
          ...(random.below(4) === 0 ? {} : { driftedSince: `2026-01-05T12:00:${10 + random.below(50)}Z` }),
          ...(flag(6) && { isTainted: true }),
          ...(flag(6) && { isReady: false }),
          ...(flag(8) && { isDeleted: true }),
          ...(flag(8) && { isInitialized: false }),
          ...(flag(8) && { isInstanceTerminating: true }),
        };
        return machineOf(`n-${index}`, shape);
      });
      const inFlight = machines.map(({ nodeClaim }) => nodeClaim.metadata.name).filter(() => flag(5));
      const allowed = random.below(12);
      const pool = poolOf(machines, { budgets: [{ nodes: String(allowed) }] });
      const { start, waiting, disrupted } = admit(pool, inputOf({ inFlight }));
      const after = takeCensus(pool, new Set([...inFlight, ...namesOf(start)]));
      const names = { allowed, inFlight, start: namesOf(start), disrupted };
      // Others may have disrupted more than the budget allows: then nobody starts.
      expect({ ...names, isWithin: start.length === 0 || after.disrupted.length <= allowed }).toEqual({
        ...names,
        isWithin: true,
      });
      if (waiting.length > 0) expect(after.disrupted.length).toBeGreaterThanOrEqual(allowed);
    }
  });
});

describe('a node that an earlier replacement of ours left tainted', () => {
  const leftover = machineOf('left', { driftedSince, isTainted: true, workflow: 'replace/cluster/left/uid-left' });

  it('holds its permit already: to go on with it takes no other one', () => {
    const pool = poolOf([leftover, machineOf('other', { driftedSince })], { budgets: [{ nodes: '1' }] });
    const admission = admit(pool, inputOf());
    expect(namesOf(admission.start)).toEqual(['left']);
    expect(namesOf(admission.waiting)).toEqual(['other']);
  });

  it('waits while the budget is closed', () => {
    expect(admit(poolOf([leftover], { budgets: [{ nodes: '0' }] }), inputOf()).start).toEqual([]);
  });

  it('is told from one that somebody else tainted', () => {
    const pool = poolOf([machineOf('theirs', { driftedSince, isTainted: true })], { budgets: [{ nodes: '1' }] });
    expect(admit(pool, inputOf()).start).toEqual([]);
  });
});
