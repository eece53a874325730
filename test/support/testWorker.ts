import { Context } from '@temporalio/activity';
import { WorkflowClient } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import { NativeConnection, Worker } from '@temporalio/worker';
import { randomUUID } from 'node:crypto';

import { connectToTemporal, loadTemporalSettings } from '../../activities/temporal/connection.js';
import type {
  ArmWriteActivities,
  ReplacementActivities,
  RolloutActivities,
  SweepActivities,
} from '../../workflows/activityInterfaces.js';
import { heartbeats } from '../../worker/heartbeats.js';
import { armWritesTaskQueueName, taskQueueName } from '../../workflows/ids.js';
import type { Activities } from './fakeActivities.js';
import { FakeActivities } from './fakeActivities.js';
import { installQuietRuntime } from './quietRuntime.js';

export const workflowBundle = { codePath: 'dist/workflowBundle.js' } as const;

/** Stands in histories that are stored: says nothing about who ran the test. */
const identity = 'driftless-test';

/** The real workflows of one cluster on the real server, with fake activities. */
export interface TestWorker {
  readonly cluster: string;
  readonly workflows: WorkflowClient;
  /** The fakes of one NodePool. A test takes a NodePool of its own: what another one left running does not disturb it. */
  fakesOf(nodePool: string): FakeActivities;
  stop(): Promise<void>;
}

/**
 * Starts the workers of a cluster.
 * @param options where its own queue's worker differs: other workflows, more at once
 * @param cluster whose workers it joins; by default one that nobody else has
 */
export async function startTestWorker(
  options: Partial<WorkerOptions> = {},
  cluster: string = randomUUID(),
): Promise<TestWorker> {
  installQuietRuntime();
  const settings = loadTemporalSettings();
  const { namespace } = settings;
  const clientConnection = await connectToTemporal(settings);
  const connection = await NativeConnection.connect(settings.connection);
  const pools = new Map<string, FakeActivities>();
  const fakesOf = (nodePool: string): FakeActivities => {
    const fakes = pools.get(nodePool) ?? new FakeActivities();
    pools.set(nodePool, fakes);
    return fakes;
  };
  const { ownQueue, armWrites } = routedActivities(fakesOf);
  const common = { connection, namespace, identity, interceptors: { activity: [heartbeats] } };
  const workers = [
    await Worker.create({
      ...common,
      taskQueue: taskQueueName(cluster),
      workflowBundle,
      activities: { ...ownQueue },
      ...options,
    }),
    await Worker.create({
      ...common,
      taskQueue: armWritesTaskQueueName(cluster),
      activities: { ...armWrites },
    }),
  ];
  const stopped = Promise.all(workers.map((worker) => worker.run()));
  return {
    cluster,
    workflows: new WorkflowClient({ connection: clientConnection, namespace, identity }),
    fakesOf,
    async stop() {
      for (const worker of workers) worker.shutdown();
      await stopped;
      await connection.close();
      await clientConnection.close();
    },
  };
}

/** Sends each call to the fakes of its NodePool. One that a test still holds back ends with the worker. */
function routedActivities(fakesOf: (nodePool: string) => FakeActivities): {
  readonly ownQueue: RolloutActivities & ReplacementActivities & SweepActivities;
  readonly armWrites: ArmWriteActivities;
} {
  const of = ({ nodePool }: { readonly nodePool: string }): Activities => fakesOf(nodePool).recorded();
  const orStopped = <T>(running: Promise<T>): Promise<T> => Promise.race([running, Context.current().cancelled]);
  return {
    ownQueue: {
      observePool: (input) => orStopped(of(input).observePool(input)),
      markWaiting: (input) => orStopped(of(input).markWaiting(input)),
      findNodeClaim: (ref) => orStopped(of(ref).findNodeClaim(ref)),
      reserve: (ref) => orStopped(of(ref).reserve(ref)),
      pollLaunch: (ref, launch) => orStopped(of(ref).pollLaunch(ref, launch)),
      initialize: (ref, launch, ttlMs) => orStopped(of(ref).initialize(ref, launch, ttlMs)),
      drain: (ref, launch, paused) => orStopped(of(ref).drain(ref, launch, paused)),
      followDeletion: (ref, deletion) => orStopped(of(ref).followDeletion(ref, deletion)),
      waitUntilResumed: (ref) => orStopped(of(ref).waitUntilResumed(ref)),
      release: (ref) => orStopped(of(ref).release(ref)),
      sweep: () => Promise.resolve({ findings: [], left: 0 }),
    },
    armWrites: {
      createReplacement: (ref, request) => orStopped(of(ref).createReplacement(ref, request)),
      beginDeletion: (ref, launch) => orStopped(of(ref).beginDeletion(ref, launch)),
      beginRemoval: (ref, name, evictionBegan) => orStopped(of(ref).beginRemoval(ref, name, evictionBegan)),
    },
  };
}
