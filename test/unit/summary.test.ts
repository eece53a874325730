import { describe, expect, it } from '@jest/globals';

import type { LaunchFailureReport, Report } from '../../demo/report.js';
import { summaryLines } from '../../demo/summary.js';

function reportOf(parts: Partial<Report> = {}): Report {
  return {
    nodePool: 'general-purpose',
    budget: '5',
    nodes: 10,
    replaced: 10,
    failed: 0,
    maxInFlight: 5,
    maxDisrupted: 5,
    createSecondsMax: 0.42,
    makespanSeconds: 215.25,
    lowerBoundSeconds: 190,
    efficiency: 0.8827,
    launchFailures: [],
    timeline: [],
    podMoves: { evicted: 20, movedTwice: 0, pendingPodSeconds: 31.4 },
    orphans: { vms: 0, nics: 0, nodeClaims: 0, taints: 0 },
    temporal: { historyEventsPerReplacement: 61.2, actionsPerReplacement: 24.7 },
    kubernetes: { workerRequestsPerReplacement: 38.24, watcherRequestsPerReplacement: 0.7 },
    wallSeconds: 14.03,
    ...parts,
  };
}

function failureOf(parts: Partial<LaunchFailureReport>): LaunchFailureReport {
  const nodeClaim = 'general-purpose-3k2j9x1q';
  return { nodeClaim, code: 'AllocationFailed', armFailedAt: 20, markedAt: 20.3, removedAt: 66, ...parts };
}

describe('the summary', () => {
  it('says a fact a line', () => {
    expect(summaryLines(reportOf())).toEqual([
      'replaced                 10 of 10',
      'most in flight at once   5 (budget 5)',
      'most disrupted at once   5 (budget 5)',
      'create returned within   0.4 s simulated',
      'makespan                 215.3 s simulated; no schedule could beat 190.0 s',
      'efficiency               0.88 of that schedule',
      'pods                     20 evicted, 0 moved twice, 31.4 s pending',
      'left behind              nothing',
      'Temporal, a replacement  61 history events, 25 actions',
      'Kubernetes, the same     38.2 requests by the worker, 0.7 by the watcher',
      'wall clock               14.0 s',
    ]);
  });

  it('names what was left behind, and only that', () => {
    const orphans = { vms: 2, nics: 0, nodeClaims: 0, taints: 1 };
    expect(summaryLines(reportOf({ orphans }))).toContain('left behind              2 vms, 1 taints');
  });

  it('names each launch that Azure failed, and how soon it was marked and gone', () => {
    const launchFailures = [failureOf({}), failureOf({ markedAt: null, removedAt: null })];
    expect(summaryLines(reportOf({ launchFailures })).slice(-5)).toEqual([
      'launches that Azure failed:',
      '  general-purpose-3k2j9x1q: AllocationFailed',
      '    marked 0.3 s later, gone 46 s later',
      '  general-purpose-3k2j9x1q: AllocationFailed',
      '    not marked, not removed',
    ]);
  });

  it('stays within 80 columns for the largest run', () => {
    const report = reportOf({
      budget: '100%',
      nodes: 1000,
      replaced: 1000,
      maxInFlight: 1000,
      maxDisrupted: 1000,
      createSecondsMax: 12_345.6,
      makespanSeconds: 12_345.6,
      lowerBoundSeconds: 12_345.6,
      launchFailures: [
        failureOf({ code: 'OverconstrainedZonalAllocationRequest', markedAt: 12_345, removedAt: 12_345 }),
      ],
      podMoves: { evicted: 10_000, movedTwice: 10_000, pendingPodSeconds: 123_456.7 },
      orphans: { vms: 1000, nics: 1000, nodeClaims: 1000, taints: 1000 },
      temporal: { historyEventsPerReplacement: 1000, actionsPerReplacement: 1000 },
      kubernetes: { workerRequestsPerReplacement: 12_345.6, watcherRequestsPerReplacement: 1_234.5 },
    });
    expect(summaryLines(report).filter((line) => line.length > 80)).toEqual([]);
  });
});
