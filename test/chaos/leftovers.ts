import type { WorkflowClient } from '@temporalio/client';

import { listNodeClaims } from '../../activities/kubernetes/nodeClaims.js';
import { listNodes } from '../../activities/kubernetes/nodes.js';
import type { Stack } from '../../demo/stack.js';
import { conditionTypes, getCondition } from '../../karpenter/conditions.js';
import {
  disruptedTaint,
  ownerAnnotation,
  replacementTaint,
  waitingTaint,
  workflowAnnotation,
} from '../../karpenter/labels.js';
import { virtualMachineName } from '../../karpenter/replacement.js';

/** What there is when a run has ended, read live. */
export interface Leftovers {
  readonly nodes: number;
  /** What should not be there, a line each. */
  readonly found: readonly string[];
}

const ourTaints: readonly string[] = [disruptedTaint, replacementTaint, waitingTaint];
const ourMarks: readonly string[] = [ownerAnnotation, workflowAnnotation];

/** Invariant 4: looks for all that a rollout must not leave behind. */
export async function findLeftovers(
  { azure, api, clusterId }: Pick<Stack, 'azure' | 'api' | 'clusterId'>,
  workflows: WorkflowClient,
  nodePool: string,
): Promise<Leftovers> {
  const [nodeClaims, nodes] = await Promise.all([listNodeClaims(api, nodePool), listNodes(api, nodePool)]);
  const machines = azure.virtualMachines().map(({ name }) => name);
  const wanted = new Set(nodeClaims.map(({ metadata }) => virtualMachineName(metadata.name)));
  const found: string[] = [
    ...without(machines, wanted).map((name) => `VM ${name} without a NodeClaim`),
    ...without(wanted, new Set(machines)).map((name) => `NodeClaim of VM ${name} without the VM`),
    ...differences('network interface', names(azure.networkInterfaces()), machines),
    ...differences('disk', names(azure.disks()), machines),
    ...differences('Node', names(nodes.map(({ metadata }) => metadata)), machines),
  ];
  for (const { metadata, spec } of nodes) {
    const taints = (spec?.taints ?? []).filter(({ key }) => ourTaints.includes(key));
    const marks = Object.keys(metadata.annotations ?? {}).filter((key) => ourMarks.includes(key));
    const finalizers = metadata.deletionTimestamp === undefined ? [] : ['a deletionTimestamp'];
    const left = [...taints.map(({ key }) => key), ...marks, ...finalizers];
    if (left.length > 0) found.push(`Node ${metadata.name} carries ${left.join(', ')}`);
  }
  for (const nodeClaim of nodeClaims) {
    const { name, deletionTimestamp } = nodeClaim.metadata;
    if (deletionTimestamp !== undefined) found.push(`NodeClaim ${name} is being deleted and does not go`);
    if (getCondition(nodeClaim, conditionTypes.disruptionReason)?.status === 'True')
      found.push(`NodeClaim ${name} says that it is being replaced`);
  }
  const running = workflows.list({ query: `Cluster = "${clusterId}" AND ExecutionStatus = "Running"` });
  for await (const { workflowId } of running) found.push(`workflow ${workflowId} is running`);
  return { nodes: nodes.length, found };
}

function names(objects: readonly { readonly name: string }[]): string[] {
  return objects.map(({ name }) => name);
}

function without(some: Iterable<string>, others: ReadonlySet<string>): string[] {
  return [...some].filter((name) => !others.has(name));
}

function differences(what: string, some: readonly string[], machines: readonly string[]): string[] {
  return [
    ...without(some, new Set(machines)).map((name) => `${what} ${name} without its VM`),
    ...without(machines, new Set(some)).map((name) => `VM ${name} without its ${what}`),
  ];
}
