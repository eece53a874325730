import { describe, expect, it } from '@jest/globals';

import type { Budget } from '../../karpenter/api.js';
import type { Admission } from '../../karpenter/admission.js';
import { admit } from '../../karpenter/admission.js';
import { admissionInputOf, machinesOf, poolOf } from './poolFixture.js';

const opensMs = Date.parse('2026-01-05T13:00:00Z');
const endsMs = Date.parse('2026-01-05T14:00:00Z');

function admitAt(budgets: readonly Budget[], atMs: number): Admission {
  const pool = poolOf(machinesOf('n', 3, { driftedSince: '2026-01-05T12:00:00Z' }), { budgets });
  return admit(pool, admissionInputOf(atMs));
}

describe('admission by budgets with windows', () => {
  const budgets: Budget[] = [{ nodes: '2' }, { nodes: '0', schedule: '0 13 * * *', duration: '1h' }];

  it('closes and opens with the window, and says when that is', () => {
    expect(admitAt(budgets, opensMs - 1)).toMatchObject({ start: { length: 2 }, nextChangeMs: opensMs });
    expect(admitAt(budgets, opensMs)).toMatchObject({ start: [], waiting: { length: 3 }, nextChangeMs: endsMs });
    expect(admitAt(budgets, endsMs)).toMatchObject({ start: { length: 2 }, waiting: { length: 1 } });
  });

  it('goes over the wire as JSON, also where nothing bounds it', () => {
    const admission = admitAt([], opensMs);
    expect(admission).toMatchObject({ nextChangeMs: null, allowances: [{ allowed: null }] });
    expect(JSON.parse(JSON.stringify(admission))).toEqual(admission);
  });

  it('closes the pool for a schedule that cannot be read, and says where and what would be right', () => {
    const { start, waiting, closed, nextChangeMs } = admitAt(
      [{ nodes: '2' }, { nodes: '5', schedule: '0 0 * * 7', duration: '1h', reasons: ['Empty'] }],
      opensMs,
    );
    expect({ start, waiting: waiting.length, nextChangeMs }).toEqual({ start: [], waiting: 3, nextChangeMs: null });
    expect(closed).toMatch(
      /^NodePool general-purpose: spec\.disruption\.budgets\[1\]\.schedule "0 0 \* \* 7": day of week "7" must be 0 to 6 or/,
    );
  });
});
