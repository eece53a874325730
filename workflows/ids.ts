/** Workflow ids and task queues, in one place: who knows the names can find everything. */

/** One rollout per NodePool. */
export function rolloutWorkflowId(cluster: string, nodePool: string): string {
  return `rollout/${cluster}/${nodePool}`;
}

/** One replacement per NodeClaim; the UID tells apart NodeClaims that had the same name one after the other. */
export function replaceNodeWorkflowId(cluster: string, nodeClaim: string, uid: string): string {
  return `replace/${cluster}/${nodeClaim}/${uid}`;
}

/** The schedule that sweeps a cluster; its workflows have this id with the time behind it. */
export function sweepScheduleId(cluster: string): string {
  return `sweep/${cluster}`;
}

/** The task queue of a cluster: a worker of another cluster can never take its tasks. */
export function taskQueueName(cluster: string): string {
  return `driftless-${cluster}`;
}

/** What writes to ARM has a queue of its own, so that its rate can be bounded for the whole subscription. */
export function armWritesTaskQueueName(cluster: string): string {
  return `driftless-${cluster}-arm-writes`;
}
