import { afterEach, describe, expect, it } from '@jest/globals';

import { until } from '../../demo/until.js';
import type { MomentKind } from '../chaos/moments.js';
import { atMoment } from '../chaos/moments.js';
import { prematureEvictions } from './auditQuestions.js';
import { failedReplacements } from './failedReplacements.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';
import { startWorkerProcess } from '../../demo/serviceProcess.js';

const speed = 20;
const nodes = 2;

describe('a worker that is killed when its write is done and it has not been told', () => {
  let run: ReportedCaseRun;
  afterEach(() => run.stop());

  it.each<{ readonly id: string; readonly kind: MomentKind }>([
    { id: 'r108: the PUT of a VM', kind: 'vmAsked' },
    { id: 'the taint of a node', kind: 'nodeWritten' },
    { id: 'the DELETE of a VM', kind: 'vmDeleteAsked' },
  ])(
    '$id: one VM for each NodeClaim, and nothing is left',
    async ({ kind }) => {
      run = await prepareReportedCase({ nodes, budget: String(nodes), speed, withWorker: false });
      const first = await startWorkerProcess(run.stack, speed);
      let killed: Promise<unknown> | undefined;
      atMoment(run.stack, { kind, count: 1 }, () => {
        killed = first.kill('SIGKILL');
      });
      await run.drift();
      await until('the worker is killed', 60_000, () => Promise.resolve(killed === undefined ? undefined : true));
      await killed;
      const second = await startWorkerProcess(run.stack, speed);
      expect(await run.untilRest()).toEqual({ kind: 'completed' });
      await second.kill('SIGKILL');
      // A replacement that failed and was made anew has had a VM of its own.
      expect(await failedReplacements(run)).toEqual([]);
      const report = await run.report();
      expect(report).toMatchObject({ replaced: nodes, failed: 0, launchFailures: [] });
      expect(report.orphans).toEqual({ vms: 0, nics: 0, nodeClaims: 0, taints: 0 });
      expect(prematureEvictions(run.stack.cluster)).toEqual([]);
      const created = run.stack.azure.audit.entries.filter(
        (entry) => entry.kind === 'resource' && entry.type === 'virtualMachine' && entry.change === 'created',
      );
      // The seeded ones, and one for each NodeClaim.
      expect(created).toHaveLength(2 * nodes);
    },
    180_000,
  );
});
