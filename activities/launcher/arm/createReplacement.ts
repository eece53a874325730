import type { NodeClaim, NodePool } from '../../../karpenter/api.js';
import { conditionTypes } from '../../../karpenter/conditions.js';
import { nodePoolLabel, unregisteredTaint } from '../../../karpenter/labels.js';
import type { Offering } from '../../../karpenter/offering.js';
import { describeOffering, offeringOf } from '../../../karpenter/offering.js';
import {
  buildReplacement,
  isReplacementOf,
  replacementName,
  virtualMachineName,
} from '../../../karpenter/replacement.js';
import type { CreateRequest } from '../../../workflows/activityInterfaces.js';
import type { Launch, ReplacementRef } from '../../../workflows/replacementTypes.js';
import { ArmError } from '../../azure/armError.js';
import { assessRefusal } from '../../azure/errorCatalogue.js';
import type { Accepted } from '../../azure/virtualMachines.js';
import { nodeClaimTag, ownerTag } from '../../azure/virtualMachines.js';
import type { VirtualMachineTemplate } from '../../azure/virtualMachineTemplate.js';
import {
  composeVirtualMachine,
  renderBootstrap,
  virtualMachineTemplateSchema,
} from '../../azure/virtualMachineTemplate.js';
import { checkCluster, refuse } from '../../environment.js';
import { createNodeClaim, readNodeClaim, setNodeClaimCondition, trueCondition } from '../../kubernetes/nodeClaims.js';
import { readNodePool } from '../../kubernetes/nodePools.js';
import { readSecret } from '../../kubernetes/secrets.js';
import { findUnavailable } from '../../unavailableOfferings.js';
import { waitAgain, waitAgainIfThereIsTime } from '../../waiting.js';
import { failLaunch, launchFailed, launchTimeout } from '../launchFailure.js';
import type { ArmEnvironment } from './armEnvironment.js';
import { failCreate } from './failCreate.js';
import { retryDelay } from './pollDelay.js';

/**
 * Creates the NodeClaim and begins the VM's PUT; answers the operation's resume token without waiting. Names are derived and the VM
 * is looked for first, so that whoever asks again gets the same VM.
 */
export async function createReplacement(
  environment: ArmEnvironment,
  ref: ReplacementRef,
  request: CreateRequest,
): Promise<Launch> {
  checkCluster(environment, ref.cluster);
  const { kubernetes, owner } = environment;
  const [nodePool, old] = await Promise.all([
    readNodePool(kubernetes, ref.nodePool),
    readNodeClaim(kubernetes, ref.nodeClaim),
  ]);
  if (nodePool === undefined) refuse(`NodePool ${ref.nodePool} is gone`);
  if (old?.metadata.uid !== ref.uid) refuse(`NodeClaim ${ref.nodeClaim} is gone`);
  const { template, bootstrap } = await readTemplate(environment);

  const name = replacementName(ref.nodePool, ref.uid, request.round, request.attempt);
  const mark = { owner, workflowId: ref.workflowId, launch: { round: request.round, attempt: request.attempt } };
  // What an earlier attempt began is carried on with: its VM may be there.
  if ((await readNodeClaim(kubernetes, name)) === undefined) await checkAvailable(environment, name, request.offering);
  const requests = request.requests ?? old.spec.resources?.requests ?? {};
  const nodeClaim = await createNodeClaim(
    kubernetes,
    name,
    buildReplacement({ nodePool, old, offering: request.offering, requests, name, mark }),
  );
  checkAdoptable(environment, ref, nodeClaim);

  const { virtualMachines } = environment;
  const virtualMachine = virtualMachineName(name);
  // An earlier attempt may have asked for another one: what its NodeClaim says counts.
  const offering = offeringOf(nodeClaim) ?? request.offering;
  const launch = {
    nodeClaim: name,
    uid: nodeClaim.metadata.uid,
    virtualMachine,
    providerId: virtualMachines.providerId(virtualMachine),
    offering,
  };
  const model = composeVirtualMachine({
    name: virtualMachine,
    location: virtualMachines.location,
    offering,
    imageId: request.imageId,
    template,
    bootstrap: renderBootstrap(bootstrap, kubeletValues(nodePool, nodeClaim)),
    tags: { [ownerTag]: owner, [nodeClaimTag]: name },
  });
  const accepted = await beginVirtualMachine(environment, ref, launch, model);
  await setNodeClaimCondition(kubernetes, name, launch.uid, trueCondition(conditionTypes.launched), {
    providerID: launch.providerId,
    imageID: request.imageId,
  });
  return { ...launch, ...accepted };
}

/** Another replacement may have found meanwhile that there is none to be had: then the next one is tried at once. */
async function checkAvailable(environment: ArmEnvironment, nodeClaim: string, offering: Offering): Promise<void> {
  const mark = await findUnavailable(environment, offering);
  if (mark === undefined) return;
  throw launchFailed({
    nodeClaim,
    code: 'OfferingUnavailable',
    message: `${describeOffering(offering)} is left alone until ${new Date(mark.untilMs).toISOString()}: ${mark.code}`,
    anotherOffering: true,
  });
}

async function beginVirtualMachine(
  environment: ArmEnvironment,
  ref: ReplacementRef,
  launch: Omit<Launch, 'resumeToken'>,
  model: ReturnType<typeof composeVirtualMachine>,
): Promise<Accepted> {
  const { virtualMachines, settings } = environment;
  try {
    // An earlier attempt's answer may have been lost: then its VM is followed by its own state.
    if ((await virtualMachines.get(launch.virtualMachine)) !== undefined) return { resumeToken: null };
    return await virtualMachines.beginCreate(launch.virtualMachine, model);
  } catch (error) {
    if (!(error instanceof ArmError)) throw error;
    const assessment = assessRefusal(error);
    if (assessment.errorClass === 'transient') {
      waitAgainIfThereIsTime(error.message, retryDelay(settings, error));
      return await failLaunch(environment, ref, launchTimeout(launch, error.message));
    }
    const code = error.code === '' ? `Http${String(error.status)}` : error.code;
    return await failCreate(environment, ref, launch, { ...assessment, code, message: error.message });
  }
}

/** A NodeClaim of the derived name may be an earlier attempt's; anybody else's is left alone. */
function checkAdoptable(environment: ArmEnvironment, ref: ReplacementRef, nodeClaim: NodeClaim): void {
  const { name, deletionTimestamp } = nodeClaim.metadata;
  if (!isReplacementOf(nodeClaim, environment.owner, ref.uid)) {
    refuse(`NodeClaim ${name} exists and is not a replacement of ${ref.nodeClaim}`);
  }
  if (deletionTimestamp !== undefined) {
    waitAgain(`an earlier NodeClaim ${name} is still being deleted`, environment.settings.replacement.waitIntervalMs);
  }
}

/** What the kubelet has to register with, so that nothing is scheduled before registration has set the rest. */
function kubeletValues(nodePool: NodePool, nodeClaim: NodeClaim): Parameters<typeof renderBootstrap>[1] {
  return {
    labels: { ...nodeClaim.metadata.labels, [nodePoolLabel]: nodePool.metadata.name },
    taints: [
      { key: unregisteredTaint, effect: 'NoExecute' },
      ...(nodeClaim.spec.taints ?? []),
      ...(nodeClaim.spec.startupTaints ?? []),
    ],
  };
}

async function readTemplate({
  kubernetes,
  templateSecret,
}: ArmEnvironment): Promise<{ template: VirtualMachineTemplate; bootstrap: string }> {
  const { namespace, name } = templateSecret;
  const values = await readSecret(kubernetes, namespace, name);
  const fault = (key: string, why: string): never => refuse(`Secret ${namespace}/${name}, key ${key}: ${why}`);
  const text = values['template.json'] ?? fault('template.json', 'is missing');
  const bootstrap = values.bootstrap ?? fault('bootstrap', 'is missing');
  const parsed = virtualMachineTemplateSchema.safeParse(parseJson(text) ?? fault('template.json', 'is not JSON'));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return fault('template.json', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'unreadable'}`);
  }
  return { template: parsed.data, bootstrap };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
