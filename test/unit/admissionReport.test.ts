import { describe, expect, it } from '@jest/globals';

import { admit } from '../../karpenter/admission.js';
import { reportAdmission } from '../../karpenter/admissionReport.js';
import { admissionInputOf, machineOf, machinesOf, poolOf } from './poolFixture.js';

const driftedSince = '2026-01-05T12:00:00Z';
const atMs = Date.parse('2026-01-05T13:00:00Z');

describe('the report of an admission', () => {
  it('says how many wait and are blocked, and shows the first fifty of each', () => {
    const pool = poolOf(
      [
        ...machinesOf('waiting', 120, { driftedSince }),
        ...machinesOf('kept', 70, { driftedSince, doNotDisrupt: 'true' }),
        ...machinesOf('tainted', 60, { isTainted: true }),
      ],
      { budgets: [{ nodes: '0' }] },
    );
    const report = reportAdmission(admit(pool, admissionInputOf(atMs)), new Set());
    expect(report).toMatchObject({
      waiting: { count: 120, first: { length: 50 } },
      blocked: { count: 70, first: { length: 50 } },
      phases: { count: 60, first: { length: 50 } },
      markChanges: 120,
      closed: null,
    });
    expect(report.waiting.first[0]).toMatchObject({ reason: 'Drifted', reasonDetail: 'ImageDrift' });
  });

  it('shows all that may start: none of them may be forgotten', () => {
    const pool = poolOf(machinesOf('n', 120, { driftedSince }), { budgets: [] });
    expect(reportAdmission(admit(pool, admissionInputOf(atMs)), new Set()).start).toHaveLength(120);
  });

  it('counts as disrupted by others whom no replacement of ours accounts for', () => {
    const pool = poolOf(
      [
        machineOf('in-flight', { driftedSince, isTainted: true }),
        machineOf('not-ready', { isReady: false }),
        machineOf('left', { driftedSince, isTainted: true, workflow: 'replace/cluster/left/uid-left' }),
        machineOf('next', { driftedSince }),
      ],
      { budgets: [{ nodes: '4' }] },
    );
    const inFlight = new Set(['in-flight']);
    const report = reportAdmission(admit(pool, admissionInputOf(atMs, { inFlight })), inFlight);
    expect(report.start.map(({ nodeClaim }) => nodeClaim)).toEqual(['left', 'next']);
    expect(report).toMatchObject({ disrupted: 3, disruptedByOthers: 1 });
  });

  it('goes over the wire as JSON, also of a pool that is closed', () => {
    const pool = poolOf(machinesOf('n', 2, { driftedSince }), { annotations: {} });
    const report = reportAdmission(admit(pool, admissionInputOf(atMs)), new Set());
    expect(report.closed).toMatch(/is not annotated/);
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });
});
