import { listEvents, nodeClaimSubject } from '../../activities/kubernetes/events.js';
import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { nodeClaimCollection, readNodeClaim } from '../../activities/kubernetes/nodeClaims.js';
import { readNode } from '../../activities/kubernetes/nodes.js';
import type { NodeClaim } from '../../karpenter/api.js';
import { nodePoolLabel } from '../../karpenter/labels.js';
import type { NodeWhy } from '../../karpenter/why.js';
import { explainNode } from '../../karpenter/why.js';
import { UserError } from '../../runtime/errors.js';
import type { OutputOption } from './commonOptions.js';
import { withKubernetes } from './kubernetesSession.js';
import { printLines } from './printLines.js';
import type { JudgingOptions } from './readCluster.js';
import { readPoolOnce } from './readCluster.js';
import type { EventReport, StrangerReport, WhyReport } from './whyReport.js';
import { latestEvents } from './whyReport.js';
import { strangerLines, whyLines } from './whyText.js';

/** Options of `driftless why` as commander reads them. */
export type WhyOptions = JudgingOptions & OutputOption;

/**
 * Prints what is happening to one node, or why nothing is.
 * @param name of a NodeClaim, or of a Node
 * @throws UserError when there is neither, or the cluster cannot be read
 */
export async function runWhy(name: string, options: WhyOptions): Promise<void> {
  const report = await withKubernetes((kubernetes) => answer(kubernetes, name, options));
  if (options.output === 'json') printLines(JSON.stringify(report, null, 2));
  else printLines(...(report.nodePool === null ? strangerLines(report) : whyLines(report)));
}

async function answer(
  kubernetes: KubernetesApi,
  name: string,
  options: WhyOptions,
): Promise<WhyReport | StrangerReport> {
  const atMs = Date.now();
  const { nodeClaim, node } = await findByName(kubernetes, name);
  const nodePool = nodeClaim?.metadata.labels?.[nodePoolLabel];
  const stranger = (why: string): StrangerReport => ({
    at: new Date(atMs).toISOString(),
    nodePool: null,
    nodeClaim: nodeClaim?.metadata.name ?? null,
    node,
    answer: { kind: 'notOfNodePool', why },
  });
  if (nodeClaim === undefined)
    return stranger('It has no NodeClaim: Karpenter did not make it, Driftless leaves it alone.');
  if (nodePool === undefined) return stranger('It belongs to no NodePool: Driftless leaves it alone.');
  const reading = await readPoolOnce(kubernetes, nodePool, options);
  if (reading === undefined) return stranger(`Its NodePool ${nodePool} does not exist: Driftless leaves it alone.`);
  const machine = reading.pool.machines.find((other) => other.nodeClaim.metadata.uid === nodeClaim.metadata.uid);
  if (machine === undefined) throw new UserError(`NodeClaim ${nodeClaim.metadata.name} has just gone`);
  const { pool, ...judgement } = reading;
  const why = explainNode(pool, machine, { atMs, ...judgement });
  return { at: new Date(atMs).toISOString(), ...why, events: await readEvents(kubernetes, why) };
}

interface Found {
  readonly nodeClaim: NodeClaim | undefined;
  readonly node: string | null;
}

/** @throws UserError when there is no NodeClaim and no Node of that name */
async function findByName(kubernetes: KubernetesApi, name: string): Promise<Found> {
  const nodeClaim = await readNodeClaim(kubernetes, name);
  if (nodeClaim !== undefined) return { nodeClaim, node: nodeClaim.status?.nodeName ?? null };
  const node = await readNode(kubernetes, name);
  if (node === undefined) throw new UserError(`there is no NodeClaim and no Node ${name}`);
  const { items } = await nodeClaimCollection.list(kubernetes);
  const { providerID } = node.spec ?? {};
  const own = items.find(
    ({ status }) => status?.nodeName === name || (providerID !== undefined && status?.providerID === providerID),
  );
  return { nodeClaim: own, node: name };
}

async function readEvents(
  kubernetes: KubernetesApi,
  { nodeClaim, uid, answer: why }: NodeWhy,
): Promise<readonly EventReport[]> {
  const subjects = [nodeClaimSubject(nodeClaim, uid)];
  if (why.kind === 'replacing' && why.replacement !== null)
    subjects.push(nodeClaimSubject(why.replacement.nodeClaim, why.replacement.uid));
  if (why.kind === 'replacement') subjects.push(nodeClaimSubject(why.of.nodeClaim, why.of.uid));
  const events = await Promise.all(
    subjects.map(async (subject) => [subject.name, await listEvents(kubernetes, subject)] as const),
  );
  return latestEvents(new Map(events));
}
