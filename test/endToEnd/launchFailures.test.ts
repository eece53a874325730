import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { Report } from '../../demo/report.js';
import type { RolloutEnd } from '../../demo/rollout.js';
import { conditionTypes, getCondition } from '../../karpenter/conditions.js';
import { historyOfNodeClaim, prematureEvictions } from './auditQuestions.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';

/** Simulated seconds between two reads of an operation, as the simulator asks for. */
const pollIntervalSeconds = 10;

describe('three creates that Azure fails 20 s in', () => {
  let run: ReportedCaseRun;
  let end: RolloutEnd;
  let report: Report;

  beforeAll(async () => {
    run = await prepareReportedCase({
      nodes: 3,
      budget: '3',
      speed: 5,
      durations: { vmCreateMs: 40_000, nodeBootMs: 10_000, vmDeleteMs: 10_000 },
      faults: [
        {
          on: 'createVirtualMachine',
          count: 3,
          then: { kind: 'operationFails', afterSeconds: 20, code: 'AllocationFailed', message: 'no room in this zone' },
        },
      ],
    });
    await run.drift();
    end = await run.untilRest();
    report = await run.report();
  }, 120_000);

  afterAll(() => run.stop());

  it('replaces every node all the same, and uses the permits again', () => {
    expect(end).toEqual({ kind: 'completed' });
    expect(report).toMatchObject({ replaced: 3, failed: 0, maxDisrupted: 3, maxInFlight: 3 });
  });

  it('r066: marks each failure on the new NodeClaim within one poll interval and a second', () => {
    expect(report.launchFailures).toHaveLength(3);
    for (const { code, armFailedAt, markedAt } of report.launchFailures) {
      expect(code).toBe('AllocationFailed');
      expect(markedAt).not.toBeNull();
      expect((markedAt ?? Infinity) - armFailedAt).toBeLessThanOrEqual(pollIntervalSeconds + 1);
    }
  });

  it("says Azure's own code and message in the condition", () => {
    for (const { nodeClaim } of report.launchFailures) {
      const launched = historyOfNodeClaim(run.stack.cluster, nodeClaim).map((state) =>
        getCondition(state, conditionTypes.launched),
      );
      expect(launched).toContainEqual(
        expect.objectContaining({ status: 'False', reason: 'AllocationFailed', message: 'no room in this zone' }),
      );
    }
  });

  it('records an Event on the old NodeClaim, which stays', async () => {
    const { items } = await run.api.core.listNamespacedEvent({ namespace: 'default' });
    const events = items.filter(({ reason }) => reason === 'ReplacementLaunchFailed');
    expect(events).toHaveLength(3);
    for (const { involvedObject, message, type } of events) {
      expect(type).toBe('Warning');
      expect(message).toContain('AllocationFailed');
      expect(report.launchFailures.map(({ nodeClaim }) => nodeClaim)).not.toContain(involvedObject.name);
    }
  });

  it('removes VM, NIC and NodeClaim long before any TTL', () => {
    for (const { armFailedAt, removedAt } of report.launchFailures) {
      expect((removedAt ?? Infinity) - armFailedAt).toBeLessThan(120);
    }
    expect(report.orphans).toEqual({ vms: 0, nics: 0, nodeClaims: 0, taints: 0 });
    expect(run.stack.azure.networkInterfaces()).toHaveLength(3);
  });

  it('leaves the old node alone until a replacement is Initialized', () => {
    expect(prematureEvictions(run.stack.cluster)).toEqual([]);
    expect(report.podMoves).toMatchObject({ evicted: 3, movedTwice: 0 });
  });

  it('tries another offering', () => {
    for (const { nodeClaim } of report.launchFailures) {
      const [failed] = historyOfNodeClaim(run.stack.cluster, nodeClaim);
      const uid = failed?.metadata.annotations?.['driftless.dev/replaces'];
      const offerings = new Set(
        run.stack.cluster.audit.entries
          .filter(({ resource, verb, status }) => resource === 'nodeclaims' && verb === 'create' && status === 201)
          .map(({ object }) => object?.metadata)
          .filter((metadata) => metadata?.annotations?.['driftless.dev/replaces'] === uid)
          .map(
            (metadata) =>
              `${metadata?.labels?.['node.kubernetes.io/instance-type'] ?? ''} ${metadata?.labels?.['topology.kubernetes.io/zone'] ?? ''}`,
          ),
      );
      expect(offerings.size).toBe(2);
    }
  });
});
