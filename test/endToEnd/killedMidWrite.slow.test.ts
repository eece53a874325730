import { afterEach, describe, expect, it } from '@jest/globals';

import { clusterFacts } from '../../demo/clusterFacts.js';
import { startWorkerProcess } from '../../demo/serviceProcess.js';
import { until } from '../../demo/until.js';
import { virtualMachineName } from '../../karpenter/replacement.js';
import type { AzureSimulator } from '../../simulator/azure/azureSimulator.js';
import type { ClusterSimulator } from '../../simulator/cluster/clusterSimulator.js';
import type { MomentKind } from '../chaos/moments.js';
import { atMoment } from '../chaos/moments.js';
import { prematureEvictions } from './auditQuestions.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';

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
      const report = await run.report();
      expect(report).toMatchObject({ replaced: nodes, failed: 0, launchFailures: [] });
      expect(report.orphans).toEqual({ vms: 0, nics: 0, nodeClaims: 0, taints: 0 });
      expect(prematureEvictions(run.stack.cluster)).toEqual([]);
      expect(createdMachines(run.stack.azure)).toEqual(nodeClaimsEver(run.stack.cluster).map(virtualMachineName));
    },
    180_000,
  );
});

/** Names of the VMs that were made, one for each time, in order. */
function createdMachines({ audit }: AzureSimulator): string[] {
  return audit.entries
    .flatMap((entry) =>
      entry.kind === 'resource' && entry.type === 'virtualMachine' && entry.change === 'created' ? [entry.name] : [],
    )
    .sort();
}

/** Names of all NodeClaims that there ever were, in order: the seeded ones, and one for each launch. */
function nodeClaimsEver({ audit }: ClusterSimulator): string[] {
  const names = clusterFacts(audit.entries).flatMap((fact) =>
    fact.kind === 'nodeClaim' ? [fact.nodeClaim.metadata.name] : [],
  );
  return [...new Set(names)].sort();
}
