import type { Node, NodeClaim } from '../../../karpenter/api.js';
import { conditionTypes, getCondition, isTrue } from '../../../karpenter/conditions.js';
import { initializedLabel, registeredLabel, unregisteredTaint } from '../../../karpenter/labels.js';
import { parseQuantity } from '../../../karpenter/quantity.js';
import type { Launch, ReplacementRef } from '../../../workflows/replacementTypes.js';
import { checkCluster } from '../../environment.js';
import { readNodeClaim, setNodeClaimCondition, trueCondition } from '../../kubernetes/nodeClaims.js';
import { readNode, updateNode } from '../../kubernetes/nodes.js';
import { waitDelayMs } from '../../waitDelay.js';
import { isLastAttempt, waitAgain, waitedMs } from '../../waiting.js';
import { failLaunch } from '../launchFailure.js';
import type { ArmEnvironment } from './armEnvironment.js';

/** Taints that Kubernetes itself takes off a node once it works. */
const ephemeralTaints: ReadonlySet<string> = new Set([
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.cloudprovider.kubernetes.io/uninitialized',
]);

/** A machine that boots takes its time: until its Node is there, it is looked for less often. */
const bootingFactor = 4;

/**
 * Karpenter's registration and initialization, for NodeClaims that no Karpenter looks after: Registered when the Node is there,
 * Initialized when it is Ready, its startup taints are gone and its resources are there.
 */
export async function initialize(
  environment: ArmEnvironment,
  ref: ReplacementRef,
  launch: Launch,
  registrationTtlMs: number,
): Promise<void> {
  checkCluster(environment, ref.cluster);
  const nodeClaim = await findNodeClaim(environment, ref, launch);
  const node = await findNode(environment, launch, registrationTtlMs);
  if (node === undefined) return await waitForNode(environment, ref, launch, registrationTtlMs);
  if (!isTrue(nodeClaim, conditionTypes.registered)) {
    await register(environment, launch);
    // What the caches show is from before that.
    await markInitialized(environment, ref, launch);
    return;
  }
  const missing = whyNotInitialized(nodeClaim, node);
  if (missing !== undefined) return await waitForInitialized(environment, ref, launch, missing);
  await markInitialized(environment, ref, launch);
}

function isThere(nodeClaim: NodeClaim | undefined, { uid }: Launch): nodeClaim is NodeClaim {
  return nodeClaim?.metadata.uid === uid && nodeClaim.metadata.deletionTimestamp === undefined;
}

/** The cache may be behind; a NodeClaim that is gone or going, whoever deleted it, will never be a node. */
async function findNodeClaim(environment: ArmEnvironment, ref: ReplacementRef, launch: Launch): Promise<NodeClaim> {
  const cached = environment.nodeClaims.get(launch.nodeClaim);
  if (isThere(cached, launch)) return cached;
  const live = await readNodeClaim(environment.kubernetes, launch.nodeClaim);
  if (isThere(live, launch)) return live;
  return await failLaunch(environment, ref, {
    ...launch,
    condition: 'Initialized',
    code: 'ReplacementDeleted',
    message: `NodeClaim ${launch.nodeClaim} of NodePool ${ref.nodePool} was deleted before it could replace NodeClaim ${ref.nodeClaim} of NodePool ${ref.nodePool}`,
    anotherOffering: false,
  });
}

/** Waits read the cache, which a silent watch leaves behind: before a launch is given up its Node is read live. */
async function findNode(
  { kubernetes, nodes }: ArmEnvironment,
  { virtualMachine, providerId }: Launch,
  registrationTtlMs: number,
): Promise<Node | undefined> {
  const isIts = (node: Node | undefined): boolean => node?.spec?.providerID === providerId;
  const cached = nodes.get(virtualMachine);
  const mayWait = !isLastAttempt() && (isIts(cached) || waitedMs() < registrationTtlMs);
  const node = mayWait ? cached : await readNode(kubernetes, virtualMachine);
  return isIts(node) ? node : undefined;
}

async function waitForNode(
  environment: ArmEnvironment,
  ref: ReplacementRef,
  launch: Launch,
  ttlMs: number,
): Promise<never> {
  const leftMs = ttlMs - waitedMs();
  if (leftMs > 0 && !isLastAttempt()) {
    return waitAgain('the Node has not registered yet', Math.min(waitDelayMs(environment) * bootingFactor, leftMs));
  }
  const message = `no Node registered within ${Math.round(ttlMs / 1000)} s`;
  return await failLaunch(environment, ref, {
    ...launch,
    condition: 'Registered',
    code: 'RegistrationTimeout',
    message,
    anotherOffering: false,
  });
}

async function waitForInitialized(
  environment: ArmEnvironment,
  ref: ReplacementRef,
  launch: Launch,
  missing: string,
): Promise<never> {
  if (!isLastAttempt()) return waitAgain(missing, waitDelayMs(environment));
  return await failLaunch(environment, ref, {
    ...launch,
    condition: 'Initialized',
    code: 'InitializeTimeout',
    message: missing,
    anotherOffering: false,
  });
}

/** Gives the Node what its NodeClaim says, once: from then on the Node's labels and taints are its own. */
async function register({ kubernetes }: ArmEnvironment, launch: Launch): Promise<void> {
  const nodeClaim = await readNodeClaim(kubernetes, launch.nodeClaim);
  if (nodeClaim?.metadata.uid !== launch.uid || isTrue(nodeClaim, conditionTypes.registered)) return;
  await updateNode(kubernetes, launch.virtualMachine, (node) => {
    if (node.metadata.labels?.[registeredLabel] === 'true') return undefined;
    const wanted = [...(nodeClaim.spec.taints ?? []), ...(nodeClaim.spec.startupTaints ?? [])];
    const present = (node.spec?.taints ?? []).filter(({ key }) => key !== unregisteredTaint);
    const added = wanted.filter(
      (taint) => !present.some(({ key, effect }) => key === taint.key && effect === taint.effect),
    );
    return {
      labels: { ...nodeClaim.metadata.labels, [registeredLabel]: 'true' },
      taints: [...present, ...added],
    };
  });
  await setNodeClaimCondition(kubernetes, launch.nodeClaim, launch.uid, trueCondition(conditionTypes.registered), {
    nodeName: launch.virtualMachine,
  });
}

function whyNotInitialized(nodeClaim: NodeClaim, node: Node): string | undefined {
  if (getCondition(node, conditionTypes.ready)?.status !== 'True') return 'the Node is not Ready yet';
  const taints = node.spec?.taints ?? [];
  const startup = nodeClaim.spec.startupTaints ?? [];
  const left = taints.find(
    ({ key, effect }) =>
      ephemeralTaints.has(key) ||
      key === unregisteredTaint ||
      startup.some((taint) => taint.key === key && taint.effect === effect),
  );
  if (left !== undefined) return `the Node still has the taint ${left.key}`;
  const allocatable = node.status?.allocatable ?? {};
  const requests = Object.keys(nodeClaim.spec.resources?.requests ?? {});
  const missing = requests.find((resource) => parseQuantity(allocatable[resource] ?? '0') === 0);
  return missing === undefined ? undefined : `the Node does not offer ${missing} yet`;
}

/** Decides live: the caches were only good enough to wait. */
async function markInitialized(environment: ArmEnvironment, ref: ReplacementRef, launch: Launch): Promise<void> {
  const { kubernetes } = environment;
  const [nodeClaim, node] = await Promise.all([
    readNodeClaim(kubernetes, launch.nodeClaim),
    readNode(kubernetes, launch.virtualMachine),
  ]);
  if (nodeClaim?.metadata.uid !== launch.uid || node === undefined) {
    return await waitForInitialized(environment, ref, launch, 'NodeClaim or Node is gone');
  }
  const missing = whyNotInitialized(nodeClaim, node);
  if (missing !== undefined) return await waitForInitialized(environment, ref, launch, missing);
  await updateNode(kubernetes, launch.virtualMachine, ({ metadata }) =>
    metadata.labels?.[initializedLabel] === 'true' ? undefined : { labels: { [initializedLabel]: 'true' } },
  );
  const { capacity, allocatable } = node.status ?? {};
  await setNodeClaimCondition(kubernetes, launch.nodeClaim, launch.uid, trueCondition(conditionTypes.initialized), {
    capacity,
    allocatable,
  });
}
