import { describe, expect, it } from '@jest/globals';

import { AuditLogs, driftAt } from '../unit/auditLogs.js';
import type { MachineShape } from '../unit/poolFixture.js';
import { poolName } from '../unit/poolFixture.js';
import type { Evidence } from './evidence.js';
import { budgetViolations } from './invariants/budget.js';
import { evictionViolations } from './invariants/evictions.js';
import { failureMarkViolations } from './invariants/failureMarks.js';
import { leftoverViolations } from './invariants/leftovers.js';
import { podBudgetViolations } from './invariants/podBudget.js';
import { replacementViolations } from './invariants/replacedOnce.js';

const replacement: MachineShape = { replaces: 'uid-old-0', trueConditions: ['Launched', 'Registered', 'Initialized'] };
const launching: MachineShape = { replaces: 'uid-old-0', hasNode: false };
const gone: MachineShape = { isTainted: true, isDeleted: true, isInstanceTerminating: true };

const failed: MachineShape = { conditions: [{ type: 'Launched', status: 'False', reason: 'AllocationFailed' }] };

function evidenceOf(logs: AuditLogs, parts: Partial<Evidence> = {}): Evidence {
  return {
    nodePool: poolName,
    budget: '1',
    originals: [{ name: 'old-0', uid: 'uid-old-0' }],
    podsAtLeast: 1,
    driftAtMs: driftAt,
    azure: logs.azure,
    cluster: logs.cluster,
    outages: [],
    leftovers: { nodes: 1, found: [] },
    slowness: 1,
    pollIntervalMs: 1_000,
    longestPollDelayMs: 6_000,
    ...parts,
  };
}

/** Two nodes, one of them replaced as it should be. */
function replaced(): AuditLogs {
  return new AuditLogs()
    .machine(-90, 'old-0')
    .machine(-80, 'other')
    .workloadPod(-70, 'create', 'web', 'aks-old-0')
    .workloadPod(-70, 'create', 'spare', 'aks-other')
    .machine(10, 'old-0', { isTainted: true })
    .machine(20, 'new-0', launching)
    .machine(30, 'new-0', replacement)
    .workloadPod(40, 'evict', 'web', 'aks-old-0')
    .machine(50, 'old-0', gone)
    .gone(60, 'old-0', gone);
}

function whats(violations: readonly { readonly what: string }[]): string[] {
  return violations.map(({ what }) => what);
}

describe('the invariants', () => {
  it('hold for a replacement as it should be', () => {
    const evidence = evidenceOf(replaced());
    expect(budgetViolations(evidence)).toEqual([]);
    expect(evictionViolations(evidence)).toEqual([]);
    expect(replacementViolations(evidence)).toEqual([]);
    expect(leftoverViolations(evidence)).toEqual([]);
    expect(failureMarkViolations(evidence)).toEqual([]);
    expect(podBudgetViolations(evidence)).toEqual([]);
  });

  it('1: tells of the write that disrupts one node too many', () => {
    const evidence = evidenceOf(
      replaced()
        .machine(70, 'new-0', { ...replacement, isReady: false })
        .machine(80, 'other', { isTainted: true }),
    );
    expect(budgetViolations(evidence)).toEqual([expect.objectContaining({ invariant: 1, atMs: 80 })]);
  });

  it('1: counts a percentage of the Initialized nodes, rounded up', () => {
    const logs = replaced().machine(70, 'other', { isTainted: true });
    expect(budgetViolations(evidenceOf(logs, { budget: '1%' }))).toEqual([]);
    expect(budgetViolations(evidenceOf(logs, { budget: '0%' }))).toHaveLength(2);
  });

  it('2: tells of an eviction before the replacement is Initialized', () => {
    const logs = new AuditLogs()
      .machine(-90, 'old-0')
      .workloadPod(-70, 'create', 'web', 'aks-old-0')
      .machine(20, 'new-0', launching)
      .workloadPod(25, 'evict', 'web', 'aks-old-0');
    expect(evictionViolations(evidenceOf(logs))).toEqual([expect.objectContaining({ invariant: 2, atMs: 25 })]);
  });

  it('3: tells of who was not replaced, or twice, and of another number of nodes', () => {
    const left = new AuditLogs().machine(-90, 'old-0');
    expect(whats(replacementViolations(evidenceOf(left)))).toEqual(['NodeClaim old-0 was not replaced']);
    const twice = replaced().machine(70, 'new-1', replacement);
    expect(whats(replacementViolations(evidenceOf(twice, { leftovers: { nodes: 2, found: [] } })))).toEqual([
      'NodeClaim old-0 has 2 replacements: new-0 new-1',
      `NodePool ${poolName} has 2 nodes, it had 1`,
    ]);
  });

  it('4: tells of each thing that is left', () => {
    const evidence = evidenceOf(replaced(), { leftovers: { nodes: 1, found: ['VM aks-x without a NodeClaim'] } });
    expect(whats(leftoverViolations(evidence))).toEqual(['VM aks-x without a NodeClaim']);
  });

  it.each([
    ['is on no NodeClaim', undefined, {}],
    ['was marked after 3100 ms', 3_200, failed],
    ['is on the NodeClaim as undefined', 200, { falseConditions: ['Launched'] }],
  ])('5: tells of a failure that %s', (what, markedAtMs, shape: MachineShape) => {
    const logs = new AuditLogs().machine(20, 'new-0', launching).create(100, 'new-0', 'failed', 'AllocationFailed');
    if (markedAtMs !== undefined) logs.machine(markedAtMs, 'new-0', { ...launching, ...shape });
    expect(whats(failureMarkViolations(evidenceOf(logs)))).toEqual([expect.stringContaining(what)]);
  });

  it('5: takes into account that nobody was at work', () => {
    const logs = new AuditLogs()
      .machine(20, 'new-0', launching)
      .create(100, 'new-0', 'failed', 'AllocationFailed')
      .machine(3_200, 'new-0', { ...launching, ...failed });
    const outages = [{ service: 'worker-1', fromMs: driftAt + 150, toMs: driftAt + 2_000 }];
    expect(failureMarkViolations(evidenceOf(logs, { outages }))).toEqual([]);
  });

  it('6: tells of the pod whose eviction leaves too few', () => {
    const logs = replaced().workloadPod(70, 'evict', 'spare', 'aks-other');
    expect(podBudgetViolations(evidenceOf(logs))).toEqual([expect.objectContaining({ invariant: 6, atMs: 70 })]);
  });
});
