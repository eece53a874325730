import type { NodeClaim } from '../../karpenter/api.js';
import { terminationTimestampAnnotation } from '../../karpenter/labels.js';
import { terminationDeadlineMs, terminationGracePeriodMs, terminationTimestamp } from '../../karpenter/termination.js';
import { nodeClaimSubject, recordEvent } from '../kubernetes/events.js';
import { annotateNodeClaim } from '../kubernetes/nodeClaims.js';
import type { KubernetesApi } from '../kubernetes/kubernetesApi.js';

/**
 * Until when the pods of a NodeClaim's node may stay under its terminationGracePeriod, which begins with the drain: fixed once, in
 * Karpenter's annotation, and told in Karpenter's Event. Epoch milliseconds; undefined: the NodeClaim has none.
 */
export async function fixDeadlineMs(api: KubernetesApi, nodeClaim: NodeClaim): Promise<number | undefined> {
  const fixed = terminationDeadlineMs(nodeClaim);
  if (fixed !== undefined) return fixed;
  const gracePeriodMs = terminationGracePeriodMs(nodeClaim);
  if (gracePeriodMs === undefined) return undefined;
  let timestamp = terminationTimestamp(Date.now() + gracePeriodMs);
  const { name, uid } = nodeClaim.metadata;
  await annotateNodeClaim(api, name, uid, terminationTimestampAnnotation, ({ metadata }) => {
    const other = metadata.annotations?.[terminationTimestampAnnotation];
    timestamp = other ?? timestamp;
    return other === undefined ? timestamp : undefined;
  });
  const what = `All pods will be deleted by ${timestamp}`;
  await recordEvent(api, nodeClaimSubject(name, uid), 'Warning', 'TerminationGracePeriodExpiring', what);
  return Date.parse(timestamp);
}

/** Forgets the deadline of a drain that was given up: the next one has its own. A NodeClaim on its way out keeps it. */
export async function forgetDeadline(api: KubernetesApi, name: string, uid: string): Promise<void> {
  await annotateNodeClaim(api, name, uid, terminationTimestampAnnotation, ({ metadata }) => {
    const isFixed = metadata.annotations?.[terminationTimestampAnnotation] !== undefined;
    return isFixed && metadata.deletionTimestamp === undefined ? null : undefined;
  });
}
