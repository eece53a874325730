import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { Report } from '../../demo/report.js';
import type { RolloutEnd } from '../../demo/rollout.js';
import { putNames } from './auditQuestions.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';

/** The VM sizes that the NodePool allows. */
const allowedSizes = 3;

describe('a pool for which Azure has no capacity at all', () => {
  let run: ReportedCaseRun;
  let end: RolloutEnd;
  let report: Report;

  beforeAll(async () => {
    run = await prepareReportedCase({
      nodes: 1,
      budget: '1',
      speed: 50,
      workerFlags: ['--halt-after-failures', '2'],
      faults: [
        {
          on: 'createVirtualMachine',
          count: 100,
          then: { kind: 'requestFails', status: 409, code: 'SkuNotAvailable', message: 'no capacity' },
        },
      ],
    });
    await run.drift();
    end = await run.untilRest();
    report = await run.report();
  }, 120_000);

  afterAll(() => run.stop());

  it('r059: keeps its node, backs off, and says that it is for want of capacity', () => {
    expect(end).toMatchObject({
      kind: 'waitsForPerson',
      failures: [{ code: 'NoOffering', message: expect.stringContaining('SkuNotAvailable') }],
    });
    expect(report.podMoves.evicted).toBe(0);
    expect(run.stack.azure.virtualMachines()).toHaveLength(1);
  });

  it('asks for each VM size once: the next round knows what this one has learnt', () => {
    expect(putNames(run.stack.azure)).toHaveLength(allowedSizes);
  });

  it('leaves neither taint nor NodeClaim behind', () => {
    expect(report.orphans).toEqual({ vms: 0, nics: 0, nodeClaims: 0, taints: 0 });
  });
});
