import { WorkflowClient } from '@temporalio/client';

import { readClusterId } from '../../activities/kubernetes/cluster.js';
import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { checkNamespace, connectToTemporal, loadTemporalSettings } from '../../activities/temporal/connection.js';
import { UserError } from '../../runtime/errors.js';
import { temporalErrorText } from './temporalErrors.js';

/** The rollouts of one cluster. */
export interface RolloutsOfCluster {
  /** The UID of the kube-system namespace. */
  readonly cluster: string;
  readonly workflows: WorkflowClient;
}

/** A rollout that has not answered by then has no worker, in milliseconds. */
const answerTimeoutMs = 30_000;

/**
 * Gives a command the rollouts of that cluster, in the Temporal that TEMPORAL_* names.
 * @throws UserError when Temporal is not there, or a rollout refuses or does not answer
 */
export async function withRollouts<T>(
  kubernetes: KubernetesApi,
  work: (rollouts: RolloutsOfCluster) => Promise<T>,
): Promise<T> {
  const cluster = await readClusterId(kubernetes);
  const temporal = loadTemporalSettings();
  const connection = await connectToTemporal(temporal);
  try {
    await checkNamespace(connection, temporal.namespace);
    const workflows = new WorkflowClient({ connection, namespace: temporal.namespace });
    return await workflows.withDeadline(Date.now() + answerTimeoutMs, () => work({ cluster, workflows }));
  } catch (error) {
    const text = temporalErrorText(error);
    throw text === undefined ? error : new UserError(text);
  } finally {
    await connection.close();
  }
}
