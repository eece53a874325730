import { describe, expect, it } from '@jest/globals';

import type { VolumeAttachment } from '../../karpenter/api.js';
import { holdingAttachments } from '../../karpenter/volumeAttachments.js';

function attachment(name: string, nodeName: string, persistentVolumeName?: string): VolumeAttachment {
  return { metadata: { name, uid: '' }, spec: { nodeName, source: { persistentVolumeName } } };
}

describe('the VolumeAttachments that hold a node’s deletion', () => {
  it('r157: are those of its volumes that no pod uses which stays', () => {
    const attachments = [
      attachment('drained', 'node-a', 'pv-1'),
      attachment('of a pod that stays', 'node-a', 'pv-2'),
      attachment('of another node', 'node-b', 'pv-3'),
      attachment('inline', 'node-a'),
    ];
    const holding = holdingAttachments(attachments, 'node-a', new Set(['pv-2']));
    expect(holding.map(({ metadata }) => metadata.name)).toEqual(['drained']);
  });
});
