import { WorkflowClient } from '@temporalio/client';

import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { connectToTemporal, loadTemporalSettings } from '../../activities/temporal/connection.js';
import { measure } from '../../demo/measure.js';
import type { Report } from '../../demo/report.js';
import type { RolloutEnd } from '../../demo/rollout.js';
import { untilRolloutRests } from '../../demo/rollout.js';
import { buildScenario, causeDrift, nodePoolName } from '../../demo/scenario.js';
import { demoSettings } from '../../demo/settings.js';
import type { SimulatedDurations, Stack } from '../../demo/stack.js';
import { startStack } from '../../demo/stack.js';
import { createLog } from '../../runtime/log.js';
import type { AzureFault } from '../../simulator/azure/faults.js';
import { installTemporalRuntime } from '../../worker/temporalRuntime.js';

const usualDurations: SimulatedDurations = {
  vmCreateMs: 60_000,
  nodeBootMs: 30_000,
  podTerminationMs: 5_000,
  vmDeleteMs: 45_000,
};

export interface RunOptions {
  readonly nodes: number;
  readonly budget: string;
  readonly speed: number;
  readonly faults?: readonly AzureFault[];
  /** Where they differ from the demo's. */
  readonly durations?: Partial<SimulatedDurations>;
  /** Further flags of the worker, e.g. `--registration-ttl 2m`. */
  readonly workerFlags?: readonly string[];
  readonly withWorker?: boolean;
}

/** The reported case on the tests' dev server, up to the instant before the drift. */
export interface ReportedCaseRun {
  readonly stack: Stack;
  readonly api: KubernetesApi;
  readonly workflows: WorkflowClient;
  readonly driftAt: number;
  drift(): Promise<void>;
  untilRest(): Promise<RolloutEnd>;
  report(): Promise<Report>;
  stop(): Promise<void>;
}

const restTimeoutMs = 150_000;
const log = createLog('test', 'error');
let isRuntimeInstalled = false;

/** Temporal's native runtime ends with the last worker: without one it would keep the test's process alive. */
function quietTemporal(): void {
  if (!isRuntimeInstalled) installTemporalRuntime(log);
  isRuntimeInstalled = true;
}

export async function prepareReportedCase(options: RunOptions): Promise<ReportedCaseRun> {
  const { nodes, budget, speed, withWorker = true } = options;
  const durations = { ...usualDurations, ...options.durations };
  if (withWorker) quietTemporal();
  const temporal = loadTemporalSettings();
  const connection = await connectToTemporal(temporal);
  const workflows = new WorkflowClient({ connection, namespace: temporal.namespace });
  const stack = await startStack({
    temporal,
    speed,
    durations,
    settings: demoSettings(speed, ...(options.workerFlags ?? [])),
    faults: options.faults ?? [],
    workflowBundle: 'dist/workflowBundle.js',
    withWorker,
    log,
  });
  let driftAt = 0;
  const stop = async (): Promise<void> => {
    await stack.stop();
    await connection.close();
  };
  try {
    await buildScenario(stack.api, stack.machines, { nodes, budget, seed: 1 });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    stack,
    api: stack.api,
    workflows,
    get driftAt() {
      return driftAt;
    },
    async drift() {
      driftAt = await causeDrift(stack.api);
    },
    untilRest: () =>
      untilRolloutRests(workflows, stack.clusterId, nodePoolName, restTimeoutMs, new AbortController().signal),
    report: () =>
      measure(stack, workflows, {
        nodes,
        budget,
        speed,
        durations,
        failAfterMs: 20_000,
        driftAt,
        endedAt: Date.now(),
      }),
    stop,
  };
}
