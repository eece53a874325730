import type { Pod, VolumeAttachment } from '../../karpenter/api.js';
import type { DrainClock } from '../../karpenter/drain.js';
import { isDrainable, isStuckTerminating } from '../../karpenter/drain.js';
import { disruption } from '../../karpenter/replacement.js';
import { holdingAttachments } from '../../karpenter/volumeAttachments.js';
import { claimsOf } from '../../karpenter/volumes.js';
import type { ReplacementRef } from '../../workflows/replacementTypes.js';
import type { ActivityEnvironment } from '../environment.js';
import { listVolumeAttachments } from '../kubernetes/volumeAttachments.js';
import { readVolumeName } from '../kubernetes/volumes.js';
import { waitDelayMs } from '../waitDelay.js';
import { waitAgainIfThereIsTime } from '../waiting.js';
import { listed } from './describe.js';
import type { DrainJournal } from './journal.js';

/**
 * Waits until the disks of the drained pods are detached: a VM that is deleted with a disk attached keeps the pod's successor from
 * it for minutes. After the detach timeout, or the deadline, it goes on.
 * @returns the names of the VolumeAttachments that it goes on without
 */
export async function waitForDetachment(
  environment: ActivityEnvironment,
  ref: ReplacementRef,
  pods: readonly Pod[],
  journal: DrainJournal,
  { nowMs, deadlineMs = Infinity }: DrainClock,
): Promise<readonly string[]> {
  const names = (await readHolding(environment, ref.node, pods, nowMs)).map(({ metadata }) => metadata.name);
  if (names.length === 0) return [];
  const { detachTimeoutMs } = environment.settings.replacement;
  const untilMs = Math.min(journal.detachingSinceMs(nowMs) + detachTimeoutMs, deadlineMs);
  if (nowMs < untilMs) {
    const until = new Date(untilMs).toISOString();
    const what = `no pods left; waiting until ${until} for VolumeAttachments to go: ${listed(names)}`;
    waitAgainIfThereIsTime(what, waitDelayMs(environment));
  }
  // All pods have moved: that is not undone for a disk.
  return names;
}

async function readHolding(
  { kubernetes }: ActivityEnvironment,
  node: string,
  pods: readonly Pod[],
  nowMs: number,
): Promise<readonly VolumeAttachment[]> {
  const attachments = await listVolumeAttachments(kubernetes, node);
  if (attachments.length === 0) return [];
  const staying = pods.filter((pod) => !isDrainable(pod, disruption) || isStuckTerminating(pod, nowMs));
  const volumes = await Promise.all(staying.flatMap(claimsOf).map((claim) => readVolumeName(kubernetes, claim)));
  return holdingAttachments(attachments, node, new Set(volumes.filter((volume) => volume !== undefined)));
}
