import { planPool } from '../../karpenter/plan.js';
import { UserError } from '../../runtime/errors.js';
import type { OutputOption } from './commonOptions.js';
import { withKubernetes } from './kubernetesSession.js';
import { reportPlan } from './planReport.js';
import { planLines } from './planText.js';
import { printLines } from './printLines.js';
import type { JudgingOptions } from './readCluster.js';
import { readPoolOnce } from './readCluster.js';

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
  const reading = await withKubernetes((kubernetes) => readPoolOnce(kubernetes, nodePool, options));
  if (reading === undefined) throw new UserError(`NodePool ${nodePool} does not exist`);
  const { pool, ...judgement } = reading;
  const plan = planPool(pool, { atMs: options.at ?? Date.now(), ...judgement });
  if (options.output === 'json') printLines(JSON.stringify(reportPlan(nodePool, plan), null, 2));
  else printLines(...planLines(nodePool, plan));
}
