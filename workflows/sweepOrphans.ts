import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';

import type { SweepActivities } from './activityInterfaces.js';
import { heartbeatTimeout } from './heartbeatTimeout.js';
import { markdownTable } from './markdown.js';
import type { SweepInput, SweepReport } from './sweepTypes.js';

const { sweep } = proxyActivities<SweepActivities>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout,
  scheduleToCloseTimeout: '4 minutes',
  summary: 'Look for what no running workflow owns',
});

/** Looks once for what replacements that were terminated or lost have left behind. A schedule starts it again and again. */
export async function sweepOrphans(input: SweepInput): Promise<SweepReport> {
  const report = await sweep(input);
  const rows = report.findings.map(({ kind, name, why, action }) => [kind, name, why, action]);
  setCurrentDetails(
    rows.length === 0 ? 'Nothing is left behind.' : markdownTable(['What', 'Name', 'Why', 'Done'], rows),
  );
  return report;
}
