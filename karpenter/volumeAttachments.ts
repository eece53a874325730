import type { VolumeAttachment } from './api.js';

/**
 * Karpenter's rule: all attachments of the node hold its deletion, but those of volumes that pods use which stay on it, and those
 * without a PersistentVolume.
 * @param staying the PersistentVolumes of pods that are not drained
 */
export function holdingAttachments(
  attachments: readonly VolumeAttachment[],
  node: string,
  staying: ReadonlySet<string>,
): readonly VolumeAttachment[] {
  return attachments.filter(({ spec }) => {
    const volume = spec.source.persistentVolumeName;
    return spec.nodeName === node && volume !== undefined && !staying.has(volume);
  });
}
