import { WorkflowClient } from '@temporalio/client';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { listNodeClaims } from '../../activities/kubernetes/nodeClaims.js';
import { request, requestIfFound } from '../../activities/kubernetes/request.js';
import { connectToTemporal } from '../../activities/temporal/connection.js';
import { buildScenario, causeDrift, nodePoolName } from '../../demo/scenario.js';
import { demoSettings } from '../../demo/settings.js';
import { startStackOn } from '../../demo/stack.js';
import type { TemporalServer } from '../../demo/temporalServer.js';
import { startTemporalServer } from '../../demo/temporalServer.js';
import { until } from '../../demo/until.js';
import { createLog } from '../../runtime/log.js';
import { armFault } from './armFaults.js';
import type { ChaosStack, ClusterKind } from './chaosCluster.js';
import { startChaosCluster } from './chaosCluster.js';
import type { Evidence, Violation } from './evidence.js';
import { budgetViolations } from './invariants/budget.js';
import { evictionViolations } from './invariants/evictions.js';
import { failureMarkViolations } from './invariants/failureMarks.js';
import { leftoverViolations } from './invariants/leftovers.js';
import { podBudgetViolations } from './invariants/podBudget.js';
import { replacementViolations } from './invariants/replacedOnce.js';
import { kubernetesFault } from './kubernetesFaults.js';
import type { Leftovers } from './leftovers.js';
import { findLeftovers } from './leftovers.js';
import { atMoment } from './moments.js';
import type { PersonReport } from './person.js';
import { attend } from './person.js';
import type { Plan } from './plan.js';
import type { Outage } from './services.js';
import { Services } from './services.js';

/** How a run went. */
export interface RunReport {
  readonly plan: Plan;
  readonly cluster: ClusterKind;
  readonly wallMs: number;
  readonly kills: number;
  readonly temporalRestarts: number;
  readonly selfExits: number;
  /** Requests that met a fault. */
  readonly faultsMet: number;
  readonly replaced: number;
  readonly retries: number;
  readonly slowness: number;
  readonly violations: readonly Violation[];
  /** Where the services' logs are. */
  readonly logFolder: string;
}

const speed = 10;
/** Shorter than Azure's: what hurts is the order of things, not their length. */
const durations = { vmCreateMs: 15_000, nodeBootMs: 8_000, podTerminationMs: 3_000, vmDeleteMs: 12_000 };
/** What Azure asks for by Retry-After, and the most of it that the worker honours. */
const pollIntervalMs = 10_000 / speed;
/** With the spread of those that a throttle holds back. */
const longestPollDelayMs = 75_000 / speed;
/** From a worker's start to its being at work, on a machine that has nothing else to do. */
const usualStartMs = 2_500;
const restTimeoutMs = 180_000;
const leftoversTimeoutMs = 30_000;

function now(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * Makes the plan come true, and checks all invariants when it has ended.
 * @param tell told what takes its time before the run
 */
export async function runPlan(
  plan: Plan,
  temporalCli: string,
  cluster: ClusterKind,
  tell: (text: string) => void,
): Promise<RunReport> {
  const startedAt = now();
  const logFolder = await mkdtemp(join(tmpdir(), `driftless-chaos-${plan.seed}-`));
  const temporal = await startTemporalServer(temporalCli, { databaseFile: join(logFolder, 'temporal.db') });
  let report: RunReport;
  try {
    const stack = await startStackOn(await startChaosCluster(cluster, tell), {
      temporal: temporal.settings,
      speed,
      durations,
      settings: demoSettings(speed),
      faults: [],
      workflowBundle: '',
      withWorker: false,
      withWatcher: false,
      log: createLog('chaos', 'error'),
    });
    try {
      report = { ...(await runOn(plan, stack, temporal, logFolder)), cluster, wallMs: now() - startedAt };
    } finally {
      await stack.stop();
    }
  } finally {
    await temporal.stop();
  }
  // Only now: Temporal has written to its database until here.
  if (report.violations.length === 0) await rm(logFolder, { recursive: true, force: true });
  return report;
}

async function runOn(
  plan: Plan,
  stack: ChaosStack,
  temporal: TemporalServer,
  logFolder: string,
): Promise<Omit<RunReport, 'cluster' | 'wallMs'>> {
  await buildScenario(stack.api, stack.machines, plan);
  await createPodBudget(stack, plan);
  const originals = (await listNodeClaims(stack.api, nodePoolName)).map(({ metadata }) => metadata);
  const services = new Services(plan.workers, { stack, temporal: temporal.settings, speed, logFolder });
  const connection = await connectToTemporal(temporal.settings);
  try {
    const startedAt = now();
    await services.start();
    const slowness = Math.max(1, (now() - startedAt) / usualStartMs);
    const disturbance = new Disturbance(plan, stack, temporal, services);
    const driftAtMs = await causeDrift(stack.api);
    const workflows = new WorkflowClient({ connection, namespace: temporal.settings.namespace });
    const person = await attend(
      {
        workflows,
        cluster: stack.clusterId,
        nodePool: nodePoolName,
        isAllReplaced: () => isAllReplaced(stack, originals),
        endCauses: () => forgetUnavailableOfferings(stack),
      },
      restTimeoutMs * slowness,
    );
    await disturbance.end();
    const leftovers = await untilNothingIsLeft(stack, workflows, leftoversTimeoutMs * slowness);
    const outages = [...services.outagesUntil(now()), ...disturbance.outages];
    const evidence: Evidence = {
      nodePool: nodePoolName,
      budget: plan.budget,
      originals,
      podsAtLeast: plan.nodes - plan.maxUnavailable,
      driftAtMs,
      azure: stack.azure.audit.entries,
      cluster: await stack.cluster.auditEntries(),
      outages,
      leftovers,
      slowness,
      pollIntervalMs,
      longestPollDelayMs,
    };
    return {
      plan,
      kills: disturbance.kills,
      temporalRestarts: disturbance.outages.length,
      selfExits: services.selfExits,
      faultsMet: countFaults(evidence),
      replaced: originals.length - (await countLeft(stack, originals)),
      retries: person.retries,
      slowness,
      violations: [...restViolations(person), ...violationsOf(evidence)],
      logFolder,
    };
  } finally {
    await services.stop();
    await connection.close();
  }
}

/** All that the plan does to the run, from the instant at which it is made. */
class Disturbance {
  readonly outages: Outage[] = [];
  kills = 0;
  readonly #stops: (() => void)[] = [];
  #restarting: Promise<void> | undefined;

  constructor(
    { arm, kubernetes, kills, temporalRestart }: Plan,
    stack: ChaosStack,
    private readonly temporal: TemporalServer,
    services: Services,
  ) {
    for (const fault of arm) stack.azure.addFault(armFault(fault));
    for (const fault of kubernetes) stack.cluster.addFault(kubernetesFault(fault));
    for (const { service, at, downMs } of kills) {
      this.#stops.push(
        atMoment(stack, at, () => {
          if (services.kill(service, downMs)) this.kills += 1;
        }),
      );
    }
    if (temporalRestart === undefined) return;
    this.#stops.push(
      atMoment(stack, temporalRestart.at, () => {
        this.#restarting = this.#restartTemporal(temporalRestart.downMs);
      }),
    );
  }

  /** Nothing more happens from now on. */
  async end(): Promise<void> {
    for (const stop of this.#stops) stop();
    await this.#restarting;
  }

  async #restartTemporal(downMs: number): Promise<void> {
    const fromMs = now();
    await this.temporal.restart(downMs);
    this.outages.push({ service: 'temporal', fromMs, toMs: now() });
  }
}

function violationsOf(evidence: Evidence): Violation[] {
  return [
    ...budgetViolations(evidence),
    ...evictionViolations(evidence),
    ...replacementViolations(evidence),
    ...leftoverViolations(evidence),
    ...failureMarkViolations(evidence),
    ...podBudgetViolations(evidence),
  ];
}

function restViolations({ end, retries, lastError }: PersonReport): Violation[] {
  if (end === 'completed') return [];
  return [
    { invariant: 3, what: `the rollout did not come to its end: ${end}, ${retries} retries; ${lastError}`, atMs: null },
  ];
}

async function createPodBudget({ api }: ChaosStack, { maxUnavailable }: Plan): Promise<void> {
  const name = 'inflate';
  await request('create the PodDisruptionBudget', () =>
    api.policy.createNamespacedPodDisruptionBudget({
      namespace: 'default',
      body: { metadata: { name }, spec: { maxUnavailable, selector: { matchLabels: { app: 'inflate' } } } },
    }),
  );
  await until('the PodDisruptionBudget allows evictions', restTimeoutMs, async () => {
    const { status } = await api.policy.readNamespacedPodDisruptionBudget({ namespace: 'default', name });
    return status?.disruptionsAllowed === maxUnavailable ? true : undefined;
  });
}

type Originals = readonly { readonly uid: string }[];

async function countLeft({ api }: ChaosStack, originals: Originals): Promise<number> {
  const uids = new Set(originals.map(({ uid }) => uid));
  return (await listNodeClaims(api, nodePoolName)).filter(({ metadata }) => uids.has(metadata.uid)).length;
}

async function isAllReplaced(stack: ChaosStack, originals: Originals): Promise<boolean> {
  return (await countLeft(stack, originals)) === 0;
}

/** Azure has room again: marks of an hour and more would outlast the run. */
async function forgetUnavailableOfferings({ api }: ChaosStack): Promise<void> {
  const name = 'driftless-unavailable-offerings';
  await requestIfFound('delete the unavailable offerings', () =>
    api.core.deleteNamespacedConfigMap({ namespace: 'kube-system', name }),
  );
}

/** A sweep may have to come by. */
async function untilNothingIsLeft(stack: ChaosStack, workflows: WorkflowClient, timeoutMs: number): Promise<Leftovers> {
  const deadline = now() + timeoutMs;
  for (;;) {
    const leftovers = await findLeftovers(stack, workflows, nodePoolName);
    if (leftovers.found.length === 0 || now() > deadline) return leftovers;
    await delay(500);
  }
}

/** Requests of ours that were refused, or not answered, on purpose or as a consequence. */
function countFaults({ azure, cluster }: Evidence): number {
  const refused = (status: number | string): boolean => typeof status === 'string' || status === 0 || status >= 400;
  const atArm = azure.filter((entry) => entry.kind === 'request' && refused(entry.status) && entry.status !== 404);
  const atKubernetes = cluster.filter(
    ({ userAgent, status }) => userAgent.startsWith('driftless/w') && refused(status) && status !== 404,
  );
  return atArm.length + atKubernetes.length;
}
