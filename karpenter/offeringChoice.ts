import type { NodeClaim, NodePool } from './api.js';
import { estimateAllocatable } from './estimatedAllocatable.js';
import type { InstanceType } from './instanceType.js';
import { instanceTypeLabels, isAzureLabel, isGeneralPurpose } from './instanceType.js';
import { archLabel, capacityTypeLabel, instanceTypeLabel, nodePoolLabel, zoneLabel } from './labels.js';
import type { Offering } from './offering.js';
import { offeringKey, offeringOf } from './offering.js';
import type { FittingOffering } from './offeringSpread.js';
import { spreadOfferings } from './offeringSpread.js';
import { holds } from './requirements.js';
import type { Resources } from './resources.js';
import { fitsInto, minResources, parseResources } from './resources.js';
import type { Shape } from './shape.js';
import type { UnavailableMark } from './unavailableOfferings.js';
import { findMark } from './unavailableOfferings.js';

/** What the choice of a replacement's offerings depends on. */
export interface OfferingQuestion {
  readonly nodePool: NodePool;
  /** The NodeClaim that is replaced. */
  readonly old: NodeClaim;
  /** The pool's NodeClaims: what they run on is known to work. */
  readonly nodeClaims: readonly NodeClaim[];
  readonly instanceTypes: readonly InstanceType[];
  readonly shape: Shape;
  readonly unavailable: readonly UnavailableMark[];
  readonly atMs: number;
  /** How many offerings at the most. */
  readonly limit: number;
}

export interface OfferingAnswer {
  /** In the order in which to try them. */
  readonly offerings: readonly Offering[];
  /** Marks that forbid others which would have fitted. */
  readonly marks: readonly UnavailableMark[];
}

/**
 * Which offerings to try for a replacement, in order: the old node's own first, then VM sizes that the pool runs on, then others that
 * meet the NodePool's requirements and have room for the pods. Without its own SKU in ARM's list, or if that no longer meets the
 * requirements, the old node's is not used.
 */
export function chooseAmong(question: OfferingQuestion): OfferingAnswer {
  const { unavailable, atMs, limit } = question;
  const own = offeringOf(question.old);
  const byName = new Map(question.instanceTypes.map((instanceType) => [instanceType.name, instanceType]));
  const fitting = findFitting(question, own);
  const marks = new Map<string, UnavailableMark>();
  for (const { offering } of fitting) {
    const mark = findMark(unavailable, offering, byName, atMs);
    if (mark !== undefined) marks.set(offeringKey(offering), mark);
  }
  const available = fitting.filter(({ offering }) => !marks.has(offeringKey(offering)));
  return { offerings: spreadOfferings(available, own, limit), marks: [...new Set(marks.values())] };
}

function findFitting(question: OfferingQuestion, own: Offering | undefined): readonly FittingOffering[] {
  const { nodePool, old, nodeClaims, instanceTypes, shape } = question;
  const inUse = new Set(nodeClaims.map(({ metadata }) => metadata.labels?.[instanceTypeLabel]));
  const architecture = old.metadata.labels?.[archLabel] ?? 'amd64';
  const ofOldNode = parseResources(old.status?.allocatable);
  const ownType = instanceTypes.find(({ name }) => name === own?.instanceType);
  return instanceTypes.flatMap((instanceType) => {
    const isOwn = instanceType.name === own?.instanceType;
    const isInUse = isOwn || inUse.has(instanceType.name);
    // The image is fixed, and with it the architecture.
    if (instanceType.architecture !== architecture) return [];
    if (!isInUse && !isGeneralPurpose(instanceType)) return [];
    if (!isOwn && !isWithinShare(nodePool, instanceType, ownType)) return [];
    const known = isInUse ? knownAllocatable(instanceType.name, nodeClaims) : undefined;
    const room = known ?? estimateAllocatable(instanceType, ofOldNode);
    // The pods run on a node of the old size: that they fit there needs no estimate.
    if (!isOwn && !fitsInto(shape.requests, room)) return [];
    return offeringsOfType(instanceType, isOwn ? own : undefined)
      .filter((offering) => isSame(offering, own) || (shape.zones?.includes(offering.zone) ?? true))
      .filter((offering) => meetsRequirements(nodePool, instanceType, offering, isInUse))
      .map((offering) => ({ offering, instanceType, isInUse }));
  });
}

/** The permit has reserved the old node's share of the NodePool's limits: of what is limited a larger size would take more. */
function isWithinShare({ spec }: NodePool, candidate: InstanceType, own: InstanceType | undefined): boolean {
  const { limits = {} } = spec;
  const isCpuWithin = limits['cpu'] === undefined || candidate.vCpus <= (own?.vCpus ?? 0);
  return isCpuWithin && (limits['memory'] === undefined || candidate.memoryMib <= (own?.memoryMib ?? 0));
}

function isSame(a: Offering, b: Offering | undefined): boolean {
  return b !== undefined && offeringKey(a) === offeringKey(b);
}

/** What its nodes in this pool have, the least of each; undefined when none says. */
function knownAllocatable(name: string, nodeClaims: readonly NodeClaim[]): Resources | undefined {
  const known = nodeClaims
    .filter(
      ({ metadata, status }) => metadata.labels?.[instanceTypeLabel] === name && status?.allocatable !== undefined,
    )
    .map(({ status }) => parseResources(status?.allocatable));
  const [first, ...others] = known;
  return first === undefined ? undefined : minResources(first, ...others);
}

function offeringsOfType(instanceType: InstanceType, own: Offering | undefined): readonly Offering[] {
  const capacityTypes = instanceType.isSpotCapable ? ['on-demand', 'spot'] : ['on-demand'];
  const isZonal = own?.zone.startsWith(`${instanceType.location}-`) ?? true;
  // A node that is in no zone carries a zone's label all the same, which is none of its VM size's.
  const zones = own === undefined || isZonal ? instanceType.zones : [...instanceType.zones, own.zone];
  return zones.flatMap((zone) =>
    capacityTypes.map((capacityType) => ({ instanceType: instanceType.name, zone, capacityType })),
  );
}

/** Labels of Azure's that are not derived here are taken to hold for the VM sizes that the pool runs on, for no others. */
function meetsRequirements(
  { metadata, spec }: NodePool,
  instanceType: InstanceType,
  offering: Offering,
  isInUse: boolean,
): boolean {
  const labels: Readonly<Record<string, string>> = {
    ...spec.template.metadata?.labels,
    ...instanceTypeLabels(instanceType),
    [zoneLabel]: offering.zone,
    [capacityTypeLabel]: offering.capacityType,
    [nodePoolLabel]: metadata.name,
  };
  return spec.template.spec.requirements.every(({ key, operator, values = [] }) => {
    const isUnknown = labels[key] === undefined;
    // A requirement on a label of the operator's own is how the NodePool gives it to its nodes.
    if (isUnknown && (isInUse || !isAzureLabel(key))) return true;
    return holds(operator, values, labels[key]);
  });
}
