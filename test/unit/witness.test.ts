import { describe, expect, it } from '@jest/globals';

import { nodePoolLabel } from '../../karpenter/labels.js';
import { clusterFacts } from '../../demo/clusterFacts.js';
import { Witness } from '../../demo/witness.js';
import { AuditLogs, driftAt } from './auditLogs.js';
import type { MachineShape } from './poolFixture.js';
import { machineOf, poolName } from './poolFixture.js';

const first: MachineShape = { replaces: 'uid-old-0', hasNode: false };
const second: MachineShape = { replaces: 'uid-old-1', hasNode: false };
const launched: MachineShape = { providerId: 'azure:///vm', trueConditions: ['Launched'] };
const initialized: MachineShape = {
  providerId: 'azure:///vm',
  trueConditions: ['Launched', 'Registered', 'Initialized'],
};
const terminating: MachineShape = { isTainted: true, isDeleted: true, isInstanceTerminating: true };

function hear(logs: AuditLogs) {
  return Witness.hear(poolName, driftAt, logs.azure, clusterFacts(logs.cluster));
}

/** Two old nodes of one workload pod each, before the drift. */
function twoNodes(): AuditLogs {
  return new AuditLogs()
    .machine(-90, 'old-0')
    .machine(-80, 'old-1')
    .pod(-70, 'create', 'pod-0')
    .pod(-60, 'bind', 'pod-0')
    .pod(-50, 'create', 'pod-1')
    .pod(-40, 'bind', 'pod-1');
}

/** Both are replaced, the second one at the second try. */
function twoReplacements(): AuditLogs {
  return twoNodes()
    .machine(10, 'old-0', { isTainted: true })
    .machine(20, 'old-1', { isTainted: true })
    .machine(30, 'new-0', first)
    .create(35, 'new-0', 'started')
    .create(40, 'failed', 'started')
    .machine(45, 'failed', second)
    .machine(50, 'new-0', { ...first, ...launched })
    .create(60, 'failed', 'failed', 'AllocationFailed')
    .machine(62, 'failed', { ...second, falseConditions: ['Launched'] })
    .gone(65, 'failed', { ...second, falseConditions: ['Launched'] })
    .machine(70, 'new-1', second)
    .create(75, 'new-1', 'started')
    .machine(80, 'new-1', { ...second, ...launched })
    .machine(100, 'new-0', { ...first, ...initialized })
    .create(105, 'new-0', 'succeeded')
    .pod(108, 'evict', 'pod-0', 429)
    .pod(110, 'evict', 'pod-0')
    .pod(111, 'create', 'pod-2')
    .pod(121, 'bind', 'pod-2')
    .machine(130, 'old-0', terminating)
    .gone(140, 'old-0', terminating)
    .create(145, 'new-1', 'succeeded')
    .machine(150, 'new-1', { ...second, ...initialized })
    .pod(160, 'evict', 'pod-1')
    .pod(161, 'create', 'pod-3')
    .pod(165, 'evict', 'pod-2')
    .pod(191, 'bind', 'pod-3')
    .machine(200, 'old-1', terminating)
    .gone(220, 'old-1', terminating);
}

describe('the witness of two replacements', () => {
  const testimony = hear(twoReplacements());

  it('tells each change of what is in flight, disrupted and replaced', () => {
    expect(
      testimony.points.map(({ at, inFlight, disrupted, replaced }) => [at - driftAt, inFlight, disrupted, replaced]),
    ).toEqual([
      [10, 0, 0, 0],
      [10, 0, 1, 0],
      [20, 0, 2, 0],
      [30, 1, 2, 0],
      [40, 2, 2, 0],
      // The VM has failed at 60: it is in flight until that is marked.
      [62, 1, 2, 0],
      [70, 2, 2, 0],
      // Initialized at 100, but its create operation goes on until 105.
      [105, 1, 2, 0],
      [130, 1, 1, 1],
      [150, 0, 1, 1],
      [200, 0, 0, 2],
    ]);
  });

  it('tells the longest create, from the NodeClaim to Launched', () => {
    expect(testimony.createMsMax).toBe(20);
  });

  it('tells when the last permit was free', () => {
    expect(testimony.lastPermitFreeAt).toBe(driftAt + 200);
  });

  it('tells the failure, when it was marked and when it was gone', () => {
    expect(testimony.launchFailures).toEqual([
      {
        nodeClaim: 'failed',
        code: 'AllocationFailed',
        armFailedAt: driftAt + 60,
        markedAt: driftAt + 62,
        removedAt: driftAt + 65,
      },
    ]);
  });

  it('tells the evicted pods, those that moved twice, and how long they were pending', () => {
    expect(testimony).toMatchObject({ evictedPods: 3, podsMovedTwice: 1, pendingPodMs: 10 + 30 });
  });

  it('hears the lines of the two logs in their order of time', () => {
    const { azure, cluster } = twoReplacements();
    expect(Witness.hear(poolName, driftAt, azure.toReversed(), clusterFacts(cluster)).points).toEqual(testimony.points);
  });
});

describe('the witness', () => {
  it('counts nothing before the drift', () => {
    expect(hear(twoNodes())).toEqual({
      points: [],
      createMsMax: 0,
      lastPermitFreeAt: undefined,
      launchFailures: [],
      evictedPods: 0,
      podsMovedTwice: 0,
      pendingPodMs: 0,
    });
  });

  it.each<[string, MachineShape, number]>([
    ['tainted', { isTainted: true }, 1],
    ['not Ready', { isReady: false }, 1],
    ['being deleted', { isDeleted: true }, 1],
    ['whose Node is being deleted', { isNodeDeleted: true }, 1],
    ['tainted, not Ready and being deleted', { isTainted: true, isReady: false, isDeleted: true }, 1],
    ['not Initialized', { isTainted: true, isInitialized: false }, 0],
    ['whose instance is terminating', terminating, 0],
    ['at work', {}, 0],
  ])('counts a node that is %s as %3$d disrupted', (_, shape, expected) => {
    expect(hear(new AuditLogs().machine(1, 'a', shape)).points.at(-1)?.disrupted).toBe(expected);
  });

  it('does not count as replaced what goes without an Initialized replacement', () => {
    const logs = twoNodes().machine(10, 'new-0', first).machine(20, 'old-0', terminating);
    expect(hear(logs)).toMatchObject({ lastPermitFreeAt: undefined });
    expect(hear(logs).points.at(-1)?.replaced).toBe(0);
  });

  it('counts nobody as replaced twice', () => {
    const logs = twoNodes()
      .machine(10, 'new-0', { ...first, ...initialized })
      .machine(20, 'old-0', terminating)
      .machine(30, 'old-0', terminating);
    expect(hear(logs)).toMatchObject({ lastPermitFreeAt: driftAt + 20 });
    expect(hear(logs).points.at(-1)?.replaced).toBe(1);
  });

  it('leaves a failure open that was neither marked nor removed', () => {
    const logs = new AuditLogs()
      .machine(1, 'a', first)
      .create(2, 'a', 'started')
      .create(3, 'a', 'canceled', 'OperationPreempted');
    expect(hear(logs).launchFailures).toEqual([
      { nodeClaim: 'a', code: 'OperationPreempted', armFailedAt: driftAt + 3, markedAt: null, removedAt: null },
    ]);
  });

  it('does not count the NodeClaims of other pools', () => {
    const { nodeClaim } = machineOf('a', { ...first, hasNode: false });
    const labels = { ...nodeClaim.metadata.labels, [nodePoolLabel]: 'gpu' };
    const logs = new AuditLogs().nodeClaim(1, { ...nodeClaim, metadata: { ...nodeClaim.metadata, labels } });
    expect(hear(logs).points.map(({ inFlight }) => inFlight)).toEqual([0]);
  });
});
