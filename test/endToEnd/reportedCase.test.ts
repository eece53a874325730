import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { Report } from '../../demo/report.js';
import type { RolloutEnd } from '../../demo/rollout.js';
import { conditionTypes, isTrue } from '../../karpenter/conditions.js';
import { replacesAnnotation, replacementTaint } from '../../karpenter/labels.js';
import { readClusterFact } from '../../demo/clusterFacts.js';
import {
  firstCreateEndAt,
  historyOfNodeClaim,
  pausesBetweenPolls,
  prematureEvictions,
  putNames,
  putsAt,
} from './auditQuestions.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';

const speed = 20;

describe('the reported case: ten Drifted NodeClaims, budget 5', () => {
  let run: ReportedCaseRun;
  let end: RolloutEnd;
  let report: Report;

  beforeAll(async () => {
    run = await prepareReportedCase({ nodes: 10, budget: '5', speed });
    await run.drift();
    end = await run.untilRest();
    report = await run.report();
  }, 120_000);

  afterAll(() => run.stop());

  it('replaces all ten and ends', () => {
    expect(end).toEqual({ kind: 'completed' });
    expect(report).toMatchObject({ nodes: 10, replaced: 10, failed: 0 });
  });

  it('begins five creates before the first operation ends', () => {
    const before = putsAt(run.stack.azure).filter((at) => at < firstCreateEndAt(run.stack.azure));
    expect(before).toHaveLength(5);
  });

  it('reaches the budget and never exceeds it', () => {
    expect(report.maxInFlight).toBe(5);
    expect(report.maxDisrupted).toBe(5);
  });

  it('asks for exactly one VM for each replacement', () => {
    const names = putNames(run.stack.azure);
    expect(names).toHaveLength(10);
    expect(new Set(names).size).toBe(10);
  });

  it('has providerID and Launched on each new NodeClaim long before its operation ends', () => {
    expect(report.createSecondsMax).toBeGreaterThan(0);
    expect(report.createSecondsMax).toBeLessThan(30);
  });

  it('reads an operation no more often than Retry-After asks', () => {
    const pauses = pausesBetweenPolls(run.stack.azure);
    expect(pauses.length).toBeGreaterThan(20);
    // Ten simulated seconds; timers may be a little early.
    expect(Math.min(...pauses)).toBeGreaterThan((10_000 / speed) * 0.95);
  });

  it('evicts nothing before the replacement is Initialized, and no pod twice', () => {
    expect(prematureEvictions(run.stack.cluster)).toEqual([]);
    expect(report.podMoves).toMatchObject({ evicted: 10, movedTwice: 0 });
  });

  it('keeps a replacement reserved from its birth until its pods come', () => {
    const registered = run.stack.cluster.audit.entries.flatMap((entry) => {
      const fact = readClusterFact(entry);
      return entry.verb === 'create' && fact?.kind === 'node' ? [fact.node] : [];
    });
    const replacements = registered.filter(({ spec }) => spec?.taints?.some(({ key }) => key === replacementTaint));
    expect(replacements).toHaveLength(10);
  });

  it('leaves nothing behind', () => {
    expect(report.orphans).toEqual({ vms: 0, nics: 0, nodeClaims: 0, taints: 0 });
    expect(run.stack.azure.virtualMachines()).toHaveLength(10);
  });

  it('stamps replacements so that they are not drifted themselves', () => {
    const created = run.stack.cluster.audit.entries.flatMap((entry) => {
      const fact = readClusterFact(entry);
      const isReplacement =
        fact?.kind === 'nodeClaim' && fact.nodeClaim.metadata.annotations?.[replacesAnnotation] !== undefined;
      return isReplacement ? [fact.nodeClaim.metadata.name] : [];
    });
    for (const name of new Set(created)) {
      const states = historyOfNodeClaim(run.stack.cluster, name);
      expect(states.some((state) => isTrue(state, conditionTypes.drifted))).toBe(false);
      expect(states.at(-1)?.metadata.annotations).toHaveProperty(['karpenter.sh/nodepool-hash']);
    }
  });

  it('costs Temporal little', () => {
    expect(report.temporal.historyEventsPerReplacement).toBeLessThan(100);
  });
});
