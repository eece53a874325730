import type { NodePool } from '../karpenter/api.js';
import { nodePoolLabel } from '../karpenter/labels.js';
import type { Offering } from '../karpenter/offering.js';
import { chooseAmong } from '../karpenter/offeringChoice.js';
import type { Machine } from '../karpenter/pool.js';
import type { Shape } from '../karpenter/shape.js';
import { describeShape, podsToFit, requestsOf } from '../karpenter/shape.js';
import type { UnavailableMark } from '../karpenter/unavailableOfferings.js';
import { markKey } from '../karpenter/unavailableOfferings.js';
import { commonZones } from '../karpenter/volumes.js';
import type { ActivityEnvironment } from './environment.js';
import { readVolumesOf } from './kubernetes/volumes.js';
import { readUnavailableOfferings } from './unavailableOfferings.js';

/** What a node's pods ask of its replacement, with the volumes that they have mounted, read live. */
export async function readShape({ kubernetes }: ActivityEnvironment, machine: Machine): Promise<Shape> {
  const pods = podsToFit(machine.pods);
  return { requests: requestsOf(pods), zones: commonZones(await readVolumesOf(kubernetes, pods)) };
}

export interface OfferingChoice {
  /** In the order in which to try them; none when nothing fits. */
  readonly offerings: readonly Offering[];
  /** What was looked for, in words. */
  readonly wanted: string;
}

/**
 * The offerings to try for the replacement of a machine: what meets the NodePool's requirements, has room for the shape and is not known
 * to be unavailable; at most as many as a replacement may try.
 * @throws ArmError when the VM sizes on offer are not known
 */
export async function chooseOfferings(
  environment: ActivityEnvironment,
  nodePool: NodePool,
  { nodeClaim }: Machine,
  shape: Shape,
): Promise<OfferingChoice> {
  const { nodeClaims, resourceSkus, settings } = environment;
  const [instanceTypes, unavailable] = await Promise.all([resourceSkus.list(), readUnavailableOfferings(environment)]);
  const { offerings, marks } = chooseAmong({
    nodePool,
    old: nodeClaim,
    // What the pool runs on may be read from the cache: a stale answer costs an attempt at the most.
    nodeClaims: nodeClaims.list().filter(({ metadata }) => metadata.labels?.[nodePoolLabel] === nodePool.metadata.name),
    instanceTypes,
    shape,
    unavailable,
    atMs: Date.now(),
    limit: settings.maxLaunchAttempts,
  });
  return { offerings, wanted: [describeShape(shape), ...marks.map(describeMark)].join('; ') };
}

function describeMark(mark: UnavailableMark): string {
  return `unavailable until ${new Date(mark.untilMs).toISOString()}: ${markKey(mark)} (${mark.code})`;
}
