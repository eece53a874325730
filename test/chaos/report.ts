import type { RunReport } from './run.js';

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** One line a run: what was done to it, and how it went. */
export function lineOf(report: RunReport): string {
  const { plan, kills, temporalRestarts, selfExits, faultsMet, retries, slowness, wallMs, violations } = report;
  const faults = [...plan.arm, ...plan.kubernetes].map(({ kind, count }) => (count === 1 ? kind : `${kind} x${count}`));
  const parts = [
    `${plan.nodes} nodes`,
    `budget ${plan.budget}`,
    `${plan.workers} workers`,
    `kills ${kills}/${plan.kills.length}`,
    ...(plan.temporalRestart === undefined ? [] : [`Temporal restarts ${temporalRestarts}/1`]),
    ...(selfExits === 0 ? [] : [`own exits ${selfExits}`]),
    `faults [${faults.join(', ')}]`,
    `requests refused ${faultsMet}`,
    ...(retries === 0 ? [] : [`retries ${retries}`]),
    `slowness ${slowness.toFixed(1)}`,
    seconds(wallMs),
    violations.length === 0 ? 'ok' : `${violations.length} violations`,
  ];
  return `seed ${plan.seed}: ${parts.join(', ')}`;
}

/** What was violated, when, and the command that replays it; nothing for a run that was as it should be. */
export function replayOf({ plan, cluster, violations, logFolder }: RunReport): string[] {
  if (violations.length === 0) return [];
  const variables = [...(cluster === 'in-memory' ? [] : [`CHAOS_CLUSTER=${cluster}`]), `CHAOS_SEED=${plan.seed}`];
  return [
    ...violations.map(
      ({ invariant, what, atMs }) =>
        `seed ${plan.seed}: invariant ${invariant} violated ${atMs === null ? 'at the end' : `${seconds(atMs)} after the drift`}: ${what}`,
    ),
    `seed ${plan.seed}: logs in ${logFolder}; replay: ${variables.join(' ')} npm run test:chaos`,
  ];
}

/** All runs together, and how long they took. */
export function totalOf(reports: readonly RunReport[], wallMs: number): string {
  const sum = (value: (report: RunReport) => number): number =>
    reports.reduce((total, report) => total + value(report), 0);
  return [
    `${reports.length} seeds`,
    `${sum(({ replaced }) => replaced)} replacements`,
    `${sum(({ kills }) => kills)} kills`,
    `${sum(({ temporalRestarts }) => temporalRestarts)} Temporal restarts`,
    `${sum(({ faultsMet }) => faultsMet)} requests refused or lost`,
    `${sum(({ retries }) => retries)} retries`,
    `${reports.filter(({ violations }) => violations.length > 0).length} seeds with violations`,
    seconds(wallMs),
  ].join(', ');
}
