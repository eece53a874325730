import { WorkflowClient } from '@temporalio/client';

import { connectToTemporal } from '../activities/temporal/connection.js';
import type { HistoryTroubles } from '../demo/historyTroubles.js';
import { historyTroubles } from '../demo/historyTroubles.js';
import { measure } from '../demo/measure.js';
import type { Report } from '../demo/report.js';
import { readRolloutHistories } from '../demo/rolloutHistories.js';
import { untilRolloutRests } from '../demo/rollout.js';
import { buildScenario, causeDrift, nodePoolName } from '../demo/scenario.js';
import { demoSettings } from '../demo/settings.js';
import type { Stack } from '../demo/stack.js';
import { startStack } from '../demo/stack.js';
import type { TemporalServer } from '../demo/temporalServer.js';
import type { Log } from '../runtime/log.js';

/** As the demo has them. */
const durations = { vmCreateMs: 60_000, nodeBootMs: 30_000, podTerminationMs: 5_000, vmDeleteMs: 45_000 };
/** Ten times as fast as Azure: the services' own milliseconds weigh little then. */
export const speed = 10;
const timeoutMs = 600_000;

export interface RolloutOptions {
  readonly nodes: number;
  readonly budget: number;
  /** Whether the watcher runs in the bench's own process. */
  readonly withWatcher: boolean;
}

/** The reported case, up to the instant before the drift, for services in processes of their own. */
export interface PreparedRollout {
  readonly stack: Stack;
  /** Where those find Temporal. */
  readonly environment: NodeJS.ProcessEnv;
  /** Lets the nodes drift, and waits until all are replaced. */
  run(): Promise<RolloutEnd>;
  stop(): Promise<void>;
}

export interface RolloutEnd {
  readonly report: Report;
  readonly troubles: HistoryTroubles;
}

export async function prepareRollout(
  temporal: TemporalServer,
  log: Log,
  { nodes, budget, withWatcher }: RolloutOptions,
): Promise<PreparedRollout> {
  const { settings } = temporal;
  const stack = await startStack({
    temporal: settings,
    speed,
    durations,
    settings: demoSettings(speed),
    faults: [],
    workflowBundle: '',
    withWorker: false,
    withWatcher,
    log,
  });
  try {
    await buildScenario(stack.api, stack.machines, { nodes, budget: String(budget), seed: 1 });
  } catch (error) {
    await stack.stop();
    throw error;
  }
  return {
    stack,
    environment: { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: settings.namespace },
    run: () => runRollout(stack, temporal, { nodes, budget }),
    stop: () => stack.stop(),
  };
}

async function runRollout(
  stack: Stack,
  { settings }: TemporalServer,
  { nodes, budget }: Pick<RolloutOptions, 'nodes' | 'budget'>,
): Promise<RolloutEnd> {
  const connection = await connectToTemporal(settings);
  try {
    const workflows = new WorkflowClient({ connection, namespace: settings.namespace });
    const driftAt = await causeDrift(stack.api);
    const { signal } = new AbortController();
    const end = await untilRolloutRests(workflows, stack.clusterId, nodePoolName, timeoutMs, signal);
    if (end.kind !== 'completed') throw new Error(`the rollout did not come to its end: ${end.kind}`);
    const report = await measure(stack, workflows, {
      nodes,
      budget: String(budget),
      speed,
      durations,
      failAfterMs: 0,
      driftAt,
      endedAt: Date.now(),
    });
    if (report.replaced !== nodes) throw new Error(`${report.replaced} of ${nodes} nodes were replaced`);
    const histories = await readRolloutHistories(workflows, stack.clusterId, nodePoolName);
    return { report, troubles: historyTroubles(histories) };
  } finally {
    await connection.close();
  }
}
