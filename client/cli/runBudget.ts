import { loadYaml } from '@kubernetes/client-node';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { listNodeClaims } from '../../activities/kubernetes/nodeClaims.js';
import { readNodePool } from '../../activities/kubernetes/nodePools.js';
import { listNodes } from '../../activities/kubernetes/nodes.js';
import { parseObject } from '../../activities/kubernetes/parse.js';
import type { Budget, NodePool } from '../../karpenter/api.js';
import { nodePoolSchema } from '../../karpenter/api.js';
import type { BudgetError } from '../../karpenter/budget.js';
import { budgetErrorLine } from '../../karpenter/budgetErrorLine.js';
import { validateBudgets } from '../../karpenter/budgetValidation.js';
import { joinPool, takeCensus } from '../../karpenter/pool.js';
import { errorMessage, UserError } from '../../runtime/errors.js';
import type { OutputOption } from './commonOptions.js';
import { withKubernetes } from './kubernetesSession.js';
import { printLines } from './printLines.js';
import { budgetLines, knownReasons, reportBudget } from './budgetReport.js';

/** Options of `driftless budget` as commander reads them. */
export interface BudgetOptions extends OutputOption {
  readonly file?: string;
  readonly nodes?: number;
  readonly disrupted?: number;
  /** Epoch milliseconds. */
  readonly at?: number;
  readonly reason?: string;
}

interface Subject {
  readonly nodePool: NodePool;
  readonly nodes: number;
  readonly disrupted: readonly string[] | number;
  readonly errors: readonly BudgetError[];
}

/**
 * Prints what a NodePool's budgets allow.
 * @returns the exit code: 1 when a budget is invalid
 * @throws UserError when the NodePool cannot be read
 */
export async function runBudget(name: string | undefined, options: BudgetOptions): Promise<number> {
  const subject = await readSubject(name, options);
  const { budgets } = subject.nodePool.spec.disruption ?? {};
  const nodePool = subject.nodePool.metadata.name;
  checkReason(options.reason, budgets ?? []);
  const { disrupted } = subject;
  const report = reportBudget({
    nodePool,
    budgets,
    nodes: subject.nodes,
    disrupted: typeof disrupted === 'number' ? disrupted : disrupted.length,
    atMs: options.at ?? Date.now(),
    errors: subject.errors,
    ...(options.reason === undefined ? {} : { reason: options.reason }),
  });
  const lines = options.output === 'json' ? [JSON.stringify(report, null, 2)] : budgetLines(report, budgets);
  if (options.output === 'text' && typeof disrupted !== 'number' && disrupted.length > 0)
    lines.push(`disrupted: ${disrupted.join(', ')}`);
  printLines(...lines);
  for (const error of report.errors) process.stderr.write(`${budgetErrorLine(nodePool, error)}\n`);
  return report.errors.length === 0 ? 0 : 1;
}

/** A reason that nobody has heard of is more likely a slip than a question. */
function checkReason(reason: string | undefined, budgets: readonly Budget[]): void {
  const known = knownReasons(budgets);
  if (reason === undefined || known.includes(reason)) return;
  throw new UserError(`--reason ${reason}: it must be one of ${known.join(', ')}`);
}

async function readSubject(name: string | undefined, options: BudgetOptions): Promise<Subject> {
  const { file, nodes, disrupted } = options;
  if (file !== undefined) {
    if (name !== undefined) throw new UserError('give either the name of a NodePool or --file, not both');
    if (nodes === undefined) throw new UserError('--file needs --nodes, the number of nodes to reckon with');
    const nodePool = readFile(file);
    return {
      nodePool,
      nodes,
      disrupted: disrupted ?? 0,
      errors: validateBudgets(nodePool.spec.disruption?.budgets ?? []),
    };
  }
  if (name === undefined) throw new UserError('give the name of a NodePool, or --file');
  if (nodes !== undefined || disrupted !== undefined)
    throw new UserError('--nodes and --disrupted go with --file: a cluster is counted');
  return await withKubernetes((kubernetes) => readLive(kubernetes, name));
}

async function readLive(kubernetes: KubernetesApi, name: string): Promise<Subject> {
  const nodePool = await readNodePool(kubernetes, name);
  if (nodePool === undefined) throw new UserError(`NodePool ${name} does not exist`);
  const [nodeClaims, nodeList] = await Promise.all([listNodeClaims(kubernetes, name), listNodes(kubernetes, name)]);
  const census = takeCensus(joinPool({ nodePool, nodeClaims, nodes: nodeList }), new Set());
  return { nodePool, nodes: census.nodes, disrupted: census.disrupted, errors: [] };
}

function readFile(path: string): NodePool {
  try {
    const object: unknown = loadYaml(readFileSync(path, 'utf8'));
    const { kind } = z.object({ kind: z.string().default('nothing') }).parse(object);
    if (kind !== 'NodePool') throw new Error(`it must hold a NodePool, not ${kind}`);
    return parseObject('NodePool', nodePoolSchema, object);
  } catch (error) {
    throw new UserError(`--file ${path}: ${errorMessage(error)}`);
  }
}
