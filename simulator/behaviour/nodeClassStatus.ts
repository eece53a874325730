import type { Condition, NodeClass } from '../../karpenter/api.js';
import { conditionTypes, withCondition } from '../../karpenter/conditions.js';
import { newestImageId } from './nodeImages.js';

type Status = NonNullable<NodeClass['status']>;

function readiness(nodeClass: NodeClass, imageId: string | undefined): Omit<Condition, 'type'> {
  const observedGeneration = nodeClass.metadata.generation;
  if (imageId !== undefined) return { status: 'True', reason: 'Ready', message: '', observedGeneration };
  const message = `no image for imageFamily ${nodeClass.spec.imageFamily ?? ''}`;
  return { status: 'False', reason: 'ImagesNotFound', message, observedGeneration };
}

/** The part of an AKSNodeClass's status that follows from its image family. */
export function nodeClassStatus(nodeClass: NodeClass, at: string): Required<Pick<Status, 'images' | 'conditions'>> {
  const imageId = newestImageId(nodeClass.spec.imageFamily);
  const conditions = ['ImagesReady', conditionTypes.ready].reduce<readonly Condition[]>(
    (list, type) => withCondition(list, { type, ...readiness(nodeClass, imageId) }, at),
    nodeClass.status?.conditions ?? [],
  );
  return { images: imageId === undefined ? [] : [{ id: imageId }], conditions: [...conditions] };
}
