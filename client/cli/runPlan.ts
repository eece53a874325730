import { readForPerson } from '../../activities/kubernetes/serverErrors.js';
import { planPool } from '../../karpenter/plan.js';
import { UserError } from '../../runtime/errors.js';
import type { OutputOption } from './commonOptions.js';
import { reportPlan } from './planReport.js';
import { planLines } from './planText.js';
import type { JudgingOptions } from './readCluster.js';
import { candidateRules, connectToCluster, readPoolOnce } from './readCluster.js';

/** Options of `driftless plan` as commander reads them. */
export interface PlanOptions extends JudgingOptions, OutputOption {
  /** Epoch milliseconds. */
  readonly at?: number;
}

/**
 * Prints what would happen to a NodePool.
 * @throws UserError when it cannot be read
 */
export async function runPlan(nodePool: string, options: PlanOptions): Promise<void> {
  const kubernetes = connectToCluster();
  const reading = await readForPerson(kubernetes, () => readPoolOnce(kubernetes, nodePool, options));
  if (reading === undefined) throw new UserError(`NodePool ${nodePool} does not exist`);
  const { pool, cluster } = reading;
  const plan = planPool(pool, { atMs: options.at ?? Date.now(), rules: candidateRules(options), cluster });
  const lines =
    options.output === 'json' ? [JSON.stringify(reportPlan(nodePool, plan), null, 2)] : planLines(nodePool, plan);
  for (const line of lines) process.stdout.write(`${line}\n`);
}
