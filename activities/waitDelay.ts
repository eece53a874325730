import { conditionTypes, isTrue } from '../karpenter/conditions.js';
import { ownerAnnotation } from '../karpenter/labels.js';
import type { ActivityEnvironment } from './environment.js';

/** So many looks a second at Kubernetes, for all waits together. */
const looksPerSecond = 50;
/** The longest interval, as a multiple of the shortest. */
const maxFactor = 15;

/** How long to wait before the next look at Kubernetes, in milliseconds: longer the more replacements are under way. */
export function waitDelayMs({ nodeClaims, owner, settings }: ActivityEnvironment): number {
  const underWay = nodeClaims
    .list()
    .filter(
      (nodeClaim) =>
        nodeClaim.metadata.annotations?.[ownerAnnotation] === owner && !isTrue(nodeClaim, conditionTypes.initialized),
    );
  const { waitIntervalMs } = settings.replacement;
  return Math.min(Math.max((underWay.length * 1000) / looksPerSecond, waitIntervalMs), waitIntervalMs * maxFactor);
}
