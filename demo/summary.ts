import type { Report } from './report.js';

/** What the report says, for people: a line a fact, 80 columns at the most. */
export function summaryLines(report: Report): string[] {
  const { orphans, podMoves } = report;
  const left = Object.entries(orphans).filter(([, count]) => count > 0);
  const lines: [string, string][] = [
    ['replaced', `${report.replaced} of ${report.nodes}`],
    ['most in flight at once', `${report.maxInFlight} (budget ${report.budget})`],
    ['most disrupted at once', `${report.maxDisrupted} (budget ${report.budget})`],
    ['create returned within', `${report.createSecondsMax.toFixed(1)} s simulated`],
    [
      'makespan',
      `${report.makespanSeconds.toFixed(1)} s simulated; no schedule could beat ${report.lowerBoundSeconds.toFixed(1)} s`,
    ],
    ['efficiency', `${report.efficiency.toFixed(2)} of that schedule`],
    [
      'pods',
      `${podMoves.evicted} evicted, ${podMoves.movedTwice} moved twice, ${podMoves.pendingPodSeconds.toFixed(1)} s pending`,
    ],
    ['left behind', left.length === 0 ? 'nothing' : left.map(([what, count]) => `${count} ${what}`).join(', ')],
    [
      'Temporal, a replacement',
      `${report.temporal.historyEventsPerReplacement.toFixed(0)} history events, ${report.temporal.actionsPerReplacement.toFixed(0)} actions`,
    ],
    ...requestRows(report),
    ['wall clock', `${report.wallSeconds.toFixed(1)} s`],
  ];
  const failures = report.launchFailures.flatMap(({ nodeClaim, code, armFailedAt, markedAt, removedAt }) => {
    const marked = markedAt === null ? 'not marked' : `marked ${(markedAt - armFailedAt).toFixed(1)} s later`;
    const removed = removedAt === null ? 'not removed' : `gone ${(removedAt - armFailedAt).toFixed(0)} s later`;
    return [`  ${nodeClaim}: ${code}`, `    ${marked}, ${removed}`];
  });
  return [
    ...lines.map(([name, value]) => `${name.padEnd(24)} ${value}`),
    ...(failures.length === 0 ? [] : ['launches that Azure failed:', ...failures]),
  ];
}

function requestRows({ kubernetes }: Report): [string, string][] {
  if (kubernetes === null) return [];
  const worker = kubernetes.workerRequestsPerReplacement.toFixed(1);
  const watcher = kubernetes.watcherRequestsPerReplacement.toFixed(1);
  return [['Kubernetes, the same', `${worker} requests by the worker, ${watcher} by the watcher`]];
}
