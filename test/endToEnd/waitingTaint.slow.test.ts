import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { Report } from '../../demo/report.js';
import { disruptedTaint } from '../../karpenter/labels.js';
import { rolloutWorkflowId } from '../../workflows/ids.js';
import { nodePoolName } from '../../demo/scenario.js';
import { hasTaint, markedNodes, momentsOf, waitingNodes } from './clusterMoments.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';

const nodes = 30;
const budget = 3;

describe('the soft taint of nodes that wait for their replacement', () => {
  let run: ReportedCaseRun;
  let report: Report;

  beforeAll(async () => {
    run = await prepareReportedCase({
      nodes,
      budget: String(budget),
      speed: 20,
      durations: { vmCreateMs: 10_000, nodeBootMs: 5_000, podTerminationMs: 1_000, vmDeleteMs: 5_000 },
    });
    await run.drift();
    expect(await run.untilRest()).toEqual({ kind: 'completed' });
    report = await run.report();
  }, 150_000);

  afterAll(() => run.stop());

  it('is on every one of them whenever a pod is evicted, so that no pod moves twice', () => {
    let evictions = 0;
    for (const moment of momentsOf(run.stack.cluster)) {
      if (moment.fact.kind !== 'podEvicted') continue;
      evictions += 1;
      expect(markedNodes(moment).sort()).toEqual(
        waitingNodes(moment)
          .map(({ metadata }) => metadata.name)
          .sort(),
      );
    }
    expect(evictions).toBe(nodes);
    expect(report).toMatchObject({ replaced: nodes, podMoves: { evicted: nodes, movedTwice: 0 } });
  });

  it('is on no other node at any time: neither on one that is being replaced nor on a replacement', () => {
    const marked = new Set<string>();
    for (const moment of momentsOf(run.stack.cluster)) {
      if (moment.fact.kind !== 'node') continue;
      const waiting = new Set(waitingNodes(moment).map(({ metadata }) => metadata.name));
      for (const name of markedNodes(moment)) {
        expect(waiting).toContain(name);
        marked.add(name);
      }
    }
    expect(marked.size).toBeGreaterThanOrEqual(nodes - budget);
  });

  it('is off all nodes at the end', () => {
    const last = [...momentsOf(run.stack.cluster)].at(-1);
    if (last === undefined) throw new Error('nothing was written');
    expect(last.nodes.size).toBe(nodes);
    expect(markedNodes(last)).toEqual([]);
    expect([...last.nodes.values()].filter((node) => hasTaint(node, disruptedTaint))).toEqual([]);
  });

  it('is the least of what a rollout costs: nobody pokes it about what its own replacements do', async () => {
    const { events } = await run.workflows
      .getHandle(rolloutWorkflowId(run.stack.clusterId, nodePoolName))
      .fetchHistory();
    const pokes = (events ?? []).flatMap((event) => event.workflowExecutionSignaledEventAttributes ?? []);
    const fromReplacements = pokes.filter(({ externalWorkflowExecution }) => externalWorkflowExecution);
    expect(fromReplacements).toHaveLength(nodes);
    // The watcher's: the drift of the nodes, which comes to it over a while.
    expect(pokes.length - fromReplacements.length).toBeLessThan(nodes / 2);
    expect(report.temporal.historyEventsPerReplacement).toBeLessThan(90);
  });
});
