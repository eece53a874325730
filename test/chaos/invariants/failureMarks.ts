import { readClusterFact } from '../../../demo/clusterFacts.js';
import type { NodeClaim } from '../../../karpenter/api.js';
import { conditionTypes, getCondition, isTrue } from '../../../karpenter/conditions.js';
import { virtualMachineName } from '../../../karpenter/replacement.js';
import type { OperationEntry } from '../../../simulator/azure/audit.js';
import type { Evidence, Violation } from '../evidence.js';

/** For an attempt's few requests, on a machine that has nothing else to do. */
const slackMs = 2_000;
/** An attempt that was lost with its worker is made again after this time: the shortest attempt timeout. */
const lostAttemptMs = 6_000;

interface Written {
  readonly at: number;
  readonly nodeClaim: NodeClaim;
  readonly isGone: boolean;
}

/** Invariant 5: a create that Azure reports as failed is on its NodeClaim within one poll interval, plus the time that nobody was at work. */
export function failureMarkViolations(evidence: Evidence): Violation[] {
  const history = historyByMachine(evidence);
  return evidence.azure.flatMap((entry) => {
    const hasFailed =
      entry.kind === 'operation' &&
      entry.operation === 'create' &&
      (entry.phase === 'failed' || entry.phase === 'canceled');
    return hasFailed ? judge(evidence, entry, history.get(entry.virtualMachine) ?? []) : [];
  });
}

function historyByMachine({ cluster }: Evidence): ReadonlyMap<string, readonly Written[]> {
  const history = new Map<string, Written[]>();
  for (const entry of cluster) {
    const fact = readClusterFact(entry);
    if (fact?.kind !== 'nodeClaim') continue;
    const machine = virtualMachineName(fact.nodeClaim.metadata.name);
    history.set(machine, [...(history.get(machine) ?? []), fact]);
  }
  return history;
}

function judge(
  evidence: Evidence,
  { virtualMachine, at, code = '' }: OperationEntry,
  writes: readonly Written[],
): Violation[] {
  const violated = (what: string): Violation[] => [
    { invariant: 5, what: `${virtualMachine}: ${code}: ${what}`, atMs: at - evidence.driftAtMs },
  ];
  const before = writes.filter((write) => write.at <= at).at(-1);
  // Removed by us while it was created, or at work all the same: then the failure changes nothing.
  const isLeaving = before?.nodeClaim.metadata.deletionTimestamp !== undefined || before?.isGone === true;
  const isUp = writes.some(({ nodeClaim }) => isTrue(nodeClaim, conditionTypes.initialized));
  if (isLeaving || isUp) return [];
  const marked = writes.find(({ nodeClaim }) => getCondition(nodeClaim, conditionTypes.launched)?.status === 'False');
  if (marked === undefined) return violated('is on no NodeClaim');
  const reason = getCondition(marked.nodeClaim, conditionTypes.launched)?.reason;
  if (reason !== code) return violated(`is on the NodeClaim as ${String(reason)}`);
  const limitMs = limitOf(evidence, virtualMachine, at, marked.at);
  const tookMs = marked.at - at;
  return tookMs <= limitMs ? [] : violated(`was marked after ${tookMs.toFixed(0)} ms, ${limitMs.toFixed(0)} allowed`);
}

/** One poll interval, and what injected faults and outages between failure and mark account for. */
function limitOf(evidence: Evidence, virtualMachine: string, failedAt: number, markedAt: number): number {
  const { outages, slowness, pollIntervalMs, longestPollDelayMs, azure, cluster } = evidence;
  const hurting = outages.filter(({ fromMs, toMs }) => fromMs < markedAt && toMs > failedAt - lostAttemptMs);
  const outageMs = hurting.reduce((total, { fromMs, toMs }) => total + (toMs - fromMs) + lostAttemptMs, 0);
  const isBetween = (at: number): boolean => at > failedAt - longestPollDelayMs && at < markedAt;
  const refusedByArm = azure.filter(
    (entry) =>
      entry.kind === 'request' &&
      entry.method === 'GET' &&
      // A 429 holds back the reads of all.
      (entry.virtualMachine === virtualMachine ? entry.status !== 200 : entry.status === 429) &&
      isBetween(entry.at),
  );
  const refusedByKubernetes = cluster.filter(
    ({ userAgent, status, at, verb }) =>
      userAgent === 'driftless/worker' && verb !== 'evict' && (status === 0 || status >= 400) && isBetween(at),
  );
  const disturbances = refusedByArm.length + refusedByKubernetes.length;
  return pollIntervalMs + outageMs + disturbances * longestPollDelayMs + slackMs * slowness;
}
