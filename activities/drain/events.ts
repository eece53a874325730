import type { Pod } from '../../karpenter/api.js';
import { podName } from '../../karpenter/pods.js';
import type { ReplacementRef } from '../../workflows/replacementTypes.js';
import type { ActivityEnvironment } from '../environment.js';
import { nodeClaimSubject, recordEvent } from '../kubernetes/events.js';
import { describeObstacles, listed } from './describe.js';
import type { DrainJournal } from './journal.js';

/** Records what people have to know of a drain, each thing once: on the NodeClaim that is replaced. */
export async function tellNews(
  { kubernetes }: ActivityEnvironment,
  ref: ReplacementRef,
  journal: DrainJournal,
): Promise<void> {
  const subject = nodeClaimSubject(ref.nodeClaim, ref.uid);
  const { untold, untoldBare } = journal;
  if (untold.length > 0) {
    const what = `the drain of ${ref.node} cannot end: ${describeObstacles(untold)}`;
    await recordEvent(kubernetes, subject, 'Warning', 'DrainBlocked', what);
    journal.noteObstaclesTold();
  }
  if (untoldBare.length > 0) {
    const what = `evicted, though no controller makes them anew: ${listed(untoldBare)}`;
    await recordEvent(kubernetes, subject, 'Warning', 'BarePodEvicted', what);
    journal.noteBareTold();
  }
}

/** Records what a drain that is done has not waited for any longer. */
export async function tellLeft(
  { kubernetes }: ActivityEnvironment,
  ref: ReplacementRef,
  stuck: readonly Pod[],
  attachments: readonly string[],
): Promise<void> {
  const left = [
    ...(stuck.length === 0 ? [] : [`pods that were to end more than a minute ago: ${listed(stuck.map(podName))}`]),
    ...(attachments.length === 0 ? [] : [`VolumeAttachments: ${listed(attachments)}`]),
  ];
  if (left.length === 0) return;
  const what = `${ref.node} is deleted without waiting any longer for ${left.join('; ')}`;
  await recordEvent(kubernetes, nodeClaimSubject(ref.nodeClaim, ref.uid), 'Warning', 'DrainIncomplete', what);
}

/** Records that a drain is over since the machine is gone, and with it whatever ran there. */
export async function tellMachineLost(
  { kubernetes }: ActivityEnvironment,
  ref: ReplacementRef,
  pods: readonly Pod[],
): Promise<void> {
  const what = `the VM of ${ref.node} is gone: not waited for are ${pods.length === 0 ? 'no pods' : listed(pods.map(podName))}`;
  await recordEvent(kubernetes, nodeClaimSubject(ref.nodeClaim, ref.uid), 'Warning', 'DrainIncomplete', what);
}
