import { WorkflowClient } from '@temporalio/client';
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import { connectToTemporal } from '../activities/temporal/connection.js';
import { errorMessage, UserError } from '../runtime/errors.js';
import type { Log } from '../runtime/log.js';
import { untilAborted } from '../runtime/signals.js';
import type { AzureFault } from '../simulator/azure/faults.js';
import { findWorkflowBundle } from '../worker/workflowBundle.js';
import type { DemoCluster } from './cluster/demoCluster.js';
import { takeGivenCluster } from './cluster/givenCluster.js';
import { startInMemoryCluster } from './cluster/inMemoryCluster.js';
import { startRealCluster } from './cluster/realCluster.js';
import type { DemoTemporal } from './demoTemporal.js';
import { obtainTemporal, whereToLook } from './demoTemporal.js';
import { measure } from './measure.js';
import type { DemoOptions } from './options.js';
import { readProgress } from './progress.js';
import type { Report } from './report.js';
import { untilRolloutRests } from './rollout.js';
import type { RolloutEnd } from './rollout.js';
import { buildScenario, causeDrift, nodePoolName } from './scenario.js';
import { demoSettings } from './settings.js';
import type { SimulatedDurations, Stack } from './stack.js';
import { startStackOn } from './stack.js';
import { summaryLines } from './summary.js';
import type { View } from './view.js';
import { createView } from './view.js';
import { untilWorkerPolls } from './workerPolls.js';

/** When the simulated Azure notices that it has no room, in simulated seconds after the PUT. */
const failAfterSeconds = 20;
const viewEveryMs = 250;
/** Real time beyond what the simulated one needs, for a slow machine. */
const slackMs = 120_000;

/**
 * Replays the reported case and shows it.
 * @param signal ends everything early, as Ctrl-C does
 * @returns whether every node was replaced
 */
export async function runDemo(options: DemoOptions, signal: AbortSignal, log: Log): Promise<boolean> {
  const workflowBundle = findWorkflowBundle();
  checkReportFile(options.report);
  makeFolder(options.apart);
  const view = createView(process.stdout, options.nodes);
  const temporal = await obtainTemporal(options, (text) => {
    view.say(text);
  });
  try {
    const cluster = await startCluster(options, view, log);
    const stack = await startStackOn(cluster, {
      temporal: temporal.settings,
      speed: options.speed,
      durations: durationsOf(options),
      settings: demoSettings(options.speed),
      faults: failingCreates(options.fail),
      workflowBundle,
      azureListens: { host: options.host, port: options.azurePort },
      folder: options.apart,
      withWorker: options.apart === undefined,
      withWatcher: options.apart === undefined,
      log,
    });
    try {
      return await replay(options, temporal, stack, view, signal);
    } finally {
      await stack.stop();
    }
  } finally {
    await temporal.stop();
  }
}

function startCluster(
  { cluster, kubeconfig, host, kubernetesPort }: DemoOptions,
  view: View,
  log: Log,
): Promise<DemoCluster> {
  const tell = (text: string): void => {
    view.say(text);
  };
  if (kubeconfig !== undefined) return takeGivenCluster(kubeconfig, process.env, log, tell);
  switch (cluster) {
    case 'in-memory':
      return startInMemoryCluster({ host, port: kubernetesPort });
    case 'real':
      return startRealCluster(process.env, tell);
  }
}

async function replay(
  options: DemoOptions,
  temporal: DemoTemporal,
  stack: Stack<DemoCluster>,
  view: View,
  signal: AbortSignal,
): Promise<boolean> {
  const { nodes, budget, speed } = options;
  view.say(`NodePool ${nodePoolName}: ${nodes} nodes, budget ${budget}, ${speed} times as fast as Azure`);
  view.say(whereToLook(temporal));
  if (options.cluster !== 'in-memory' || options.kubeconfig !== undefined)
    view.say(`Kubernetes   ${stack.cluster.kubeConfig.getCurrentCluster()?.server ?? ''}`);
  await buildScenario(stack.api, stack.machines, options);
  signal.throwIfAborted();
  const connection = await connectToTemporal(temporal.settings);
  try {
    const workflows = new WorkflowClient({ connection, namespace: temporal.settings.namespace });
    if (options.apart !== undefined) {
      view.say(`Waiting for a worker of cluster ${stack.clusterId}`);
      await untilWorkerPolls(connection, temporal.settings.namespace, stack.clusterId, signal);
    }
    const driftAt = await causeDrift(stack.api);
    view.say('Drift: AKSNodeClass default now asks for AzureLinux');
    const end = await showUntilRest(options, stack, workflows, view, driftAt, signal);
    const report = await measure(stack, workflows, {
      nodes,
      budget,
      speed,
      durations: durationsOf(options),
      failAfterMs: failAfterSeconds * 1000,
      driftAt,
      endedAt: Date.now(),
    });
    tell(view, end, report);
    if (options.report !== undefined) writeFileSync(options.report, `${JSON.stringify(report, null, 2)}\n`);
    if (options.keep) await keep(temporal, stack, view, signal);
    return report.replaced === nodes && report.failed === 0;
  } finally {
    await connection.close();
  }
}

async function showUntilRest(
  options: DemoOptions,
  stack: Stack<DemoCluster>,
  workflows: WorkflowClient,
  view: View,
  driftAt: number,
  signal: AbortSignal,
): Promise<RolloutEnd> {
  const { nodes, speed } = options;
  const finished = new AbortController();
  const showing = (async () => {
    while (!finished.signal.aborted) {
      view.show(await readProgress(stack.api, nodes), ((Date.now() - driftAt) * speed) / 1000);
      await delay(viewEveryMs, undefined, { signal: finished.signal }).catch(() => undefined);
    }
  })();
  const { vmCreateMs, nodeBootMs, podTerminationMs, vmDeleteMs } = durationsOf(options);
  const oneByOneMs = ((vmCreateMs + nodeBootMs + podTerminationMs + vmDeleteMs) * nodes * 3) / speed;
  try {
    return await untilRolloutRests(workflows, stack.clusterId, nodePoolName, oneByOneMs + slackMs, signal);
  } finally {
    finished.abort();
    await showing;
    view.end();
  }
}

function tell(view: View, end: RolloutEnd, report: Report): void {
  for (const line of summaryLines(report)) view.say(line);
  switch (end.kind) {
    case 'completed':
      return;
    case 'timedOut':
      view.say('The rollout did not come to rest in time.');
      return;
    case 'waitsForPerson':
      view.say(`The rollout waits for a person: ${end.why}`);
      for (const { nodeClaim, code, message } of end.failures) view.say(`  ${nodeClaim}: ${code}: ${message}`);
  }
}

async function keep(temporal: DemoTemporal, stack: Stack<DemoCluster>, view: View, signal: AbortSignal): Promise<void> {
  view.say('Everything stays up until Ctrl-C:');
  if (temporal.uiUrl !== undefined) {
    view.say(`  Temporal UI   ${temporal.uiUrl}/namespaces/${temporal.settings.namespace}/workflows`);
  }
  view.say(`  Temporal      ${temporal.settings.address}, namespace ${temporal.settings.namespace}`);
  view.say(`  kubeconfig    ${stack.files.kubeConfig}`);
  view.say(`  ARM           ${stack.azure.endpoint}`);
  view.say(`  its CA        ${stack.files.azureCa}`);
  view.say(`  its token     ${stack.files.azureToken}`);
  await untilAborted(signal);
}

function durationsOf(options: DemoOptions): SimulatedDurations {
  return {
    vmCreateMs: options.vmCreate,
    nodeBootMs: options.nodeBoot,
    podTerminationMs: options.podTermination,
    vmDeleteMs: options.vmDelete,
  };
}

function failingCreates(count: number): AzureFault[] {
  if (count === 0) return [];
  const message = 'Allocation failed. We do not have sufficient capacity for the requested VM size in this region.';
  return [
    {
      on: 'createVirtualMachine',
      count,
      then: { kind: 'operationFails', afterSeconds: failAfterSeconds, code: 'AllocationFailed', message },
    },
  ];
}

function makeFolder(path: string | undefined): void {
  if (path === undefined) return;
  try {
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new UserError(`--apart ${path}: ${errorMessage(error)}`);
  }
}

/** A run whose result cannot be written is not worth starting. */
function checkReportFile(path: string | undefined): void {
  if (path === undefined) return;
  try {
    writeFileSync(path, '', { flag: 'a' });
  } catch (error) {
    throw new UserError(`--report ${path}: ${errorMessage(error)}`);
  }
}
