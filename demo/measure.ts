import type { WorkflowClient } from '@temporalio/client';

import { listNodeClaims } from '../activities/kubernetes/nodeClaims.js';
import { listNodes } from '../activities/kubernetes/nodes.js';
import { allowedDisruptions } from '../karpenter/budget.js';
import { disruptedTaint, replacementTaint } from '../karpenter/labels.js';
import { virtualMachineName } from '../karpenter/replacement.js';
import type { DemoCluster } from './cluster/demoCluster.js';
import { historyCost } from './historyCost.js';
import type { Orphans, Report } from './report.js';
import { requestsSince } from './requests.js';
import { readRolloutHistories } from './rolloutHistories.js';
import { nodePoolName } from './scenario.js';
import type { SimulatedDurations, Stack } from './stack.js';
import { Witness } from './witness.js';

export interface MeasureInput {
  readonly nodes: number;
  readonly budget: string;
  readonly speed: number;
  readonly durations: SimulatedDurations;
  /** Simulated milliseconds that each failed create kept its permit. */
  readonly failAfterMs: number;
  /** Wall-clock milliseconds. */
  readonly driftAt: number;
  readonly endedAt: number;
}

/** What is left that should not be: read live, when all has ended. */
async function countOrphans({ azure, api }: Stack<DemoCluster>): Promise<Orphans> {
  const [nodeClaims, nodes] = await Promise.all([listNodeClaims(api, nodePoolName), listNodes(api, nodePoolName)]);
  const machines = azure.virtualMachines().map(({ name }) => name);
  const wanted = new Set(nodeClaims.map(({ metadata }) => virtualMachineName(metadata.name)));
  const ours: readonly string[] = [disruptedTaint, replacementTaint];
  return {
    vms: machines.filter((name) => !wanted.has(name)).length,
    nics: azure.networkInterfaces().filter(({ name }) => !machines.includes(name)).length,
    nodeClaims: [...wanted].filter((name) => !machines.includes(name)).length,
    taints: nodes.flatMap(({ spec }) => spec?.taints ?? []).filter(({ key }) => ours.includes(key)).length,
  };
}

/** The shortest time in which any schedule could do it: no more than the budget at once, each as long as the simulated world takes. */
function lowerBoundMs(input: MeasureInput, failures: number): number {
  const { vmCreateMs, nodeBootMs, podTerminationMs } = input.durations;
  const permitMs = vmCreateMs + nodeBootMs + podTerminationMs;
  const allowed =
    allowedDisruptions([{ nodes: input.budget }], input.nodes, 'Drifted', input.driftAt).allowed ?? input.nodes;
  const longestMs = permitMs + (failures > 0 ? input.failAfterMs : 0);
  return Math.max(longestMs, (permitMs * input.nodes + input.failAfterMs * failures) / allowed);
}

/** Rounds to milliseconds of simulated time. */
function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

/** Makes the report of one run from Azure's audit log, what has happened in the cluster, and Temporal's histories. */
export async function measure(
  stack: Stack<DemoCluster>,
  workflows: WorkflowClient,
  input: MeasureInput,
): Promise<Report> {
  const { speed, driftAt } = input;
  const seconds = (wallMs: number): number => round((wallMs * speed) / 1000);
  const sinceDrift = (at: number): number => seconds(at - driftAt);
  const testimony = Witness.hear(nodePoolName, driftAt, stack.azure.audit.entries, await stack.cluster.facts());
  const { points, launchFailures, lastPermitFreeAt } = testimony;
  const replaced = points.at(-1)?.replaced ?? 0;
  const cost = historyCost(await readRolloutHistories(workflows, stack.clusterId, nodePoolName));
  const entries = await stack.cluster.auditEntries();
  const requests = entries === undefined ? undefined : requestsSince(driftAt, entries);
  const makespanSeconds = lastPermitFreeAt === undefined ? 0 : sinceDrift(lastPermitFreeAt);
  const lowerBoundSeconds = round(lowerBoundMs(input, launchFailures.length) / 1000);
  const perReplacement = (count: number): number => (replaced === 0 ? 0 : round(count / replaced));
  const orNull = (at: number | null): number | null => (at === null ? null : sinceDrift(at));
  return {
    nodePool: nodePoolName,
    budget: input.budget.endsWith('%') ? input.budget : Number(input.budget),
    nodes: input.nodes,
    replaced,
    failed: input.nodes - replaced,
    maxInFlight: Math.max(0, ...points.map(({ inFlight }) => inFlight)),
    maxDisrupted: Math.max(0, ...points.map(({ disrupted }) => disrupted)),
    createSecondsMax: seconds(testimony.createMsMax),
    makespanSeconds,
    lowerBoundSeconds,
    efficiency: makespanSeconds === 0 ? 0 : round(lowerBoundSeconds / makespanSeconds),
    launchFailures: launchFailures.map(({ nodeClaim, code, armFailedAt, markedAt, removedAt }) => ({
      nodeClaim,
      code,
      armFailedAt: sinceDrift(armFailedAt),
      markedAt: orNull(markedAt),
      removedAt: orNull(removedAt),
    })),
    timeline: points.map(({ at, inFlight, disrupted, replaced: done }) => ({
      t: sinceDrift(at),
      inFlight,
      disrupted,
      replaced: done,
    })),
    podMoves: {
      evicted: testimony.evictedPods,
      movedTwice: testimony.podsMovedTwice,
      pendingPodSeconds: seconds(testimony.pendingPodMs),
    },
    orphans: await countOrphans(stack),
    temporal: {
      historyEventsPerReplacement: perReplacement(cost.events),
      actionsPerReplacement: perReplacement(cost.actions),
    },
    kubernetes:
      requests === undefined
        ? null
        : {
            workerRequestsPerReplacement: perReplacement(requests.worker),
            watcherRequestsPerReplacement: perReplacement(requests.watcher),
          },
    wallSeconds: round((input.endedAt - driftAt) / 1000),
  };
}
