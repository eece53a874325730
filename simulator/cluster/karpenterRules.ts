import { isDeepStrictEqual } from 'node:util';

import type { NodeClaimContent, NodePoolContent } from './karpenterSchemas.js';
import type { FieldError } from './statusErrors.js';
import { brokenRule } from './statusErrors.js';

/** The rules in CEL of Karpenter's CRDs (v1.15), in their words. */

type NodeSpec = NodeClaimContent['spec'];
type Requirement = NodeSpec['requirements'][number];

const comparisons: readonly string[] = ['Gt', 'Lt', 'Gte', 'Lte'];
const ownDomainLabels = ['karpenter.sh/capacity-type', 'karpenter.sh/nodepool'];

function unless(holds: boolean, field: string, message: string): readonly FieldError[] {
  return holds ? [] : [brokenRule(field, message)];
}

function isAllowedDomain(key: string): boolean {
  return ownDomainLabels.includes(key) || !(key.split('/')[0] ?? '').endsWith('karpenter.sh');
}

function keyRules(field: string, key: string): readonly FieldError[] {
  return [
    ...unless(isAllowedDomain(key), field, 'label domain "karpenter.sh" is restricted'),
    ...unless(key !== 'kubernetes.io/hostname', field, 'label "kubernetes.io/hostname" is restricted'),
  ];
}

function hasSinglePositiveInteger({ values = [] }: Requirement): boolean {
  return values.length === 1 && /^\d+$/.test(values[0] ?? '');
}

function requirementRules(field: string, requirements: readonly Requirement[]): readonly FieldError[] {
  const ofKeys = requirements.flatMap(({ key }, index) => keyRules(`${field}[${index}].key`, key));
  const count = ({ values = [] }: Requirement): number => values.length;
  return [
    ...ofKeys,
    ...unless(
      requirements.every((each) => each.operator !== 'In' || count(each) > 0),
      field,
      "requirements with operator 'In' must have a value defined",
    ),
    ...unless(
      requirements.every((each) => !comparisons.includes(each.operator) || hasSinglePositiveInteger(each)),
      field,
      "requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single positive integer value",
    ),
    ...unless(
      requirements.every((each) => each.operator !== 'In' || count(each) >= (each.minValues ?? 0)),
      field,
      "requirements with 'minValues' must have at least that many values specified in the 'values' field",
    ),
  ];
}

function nodeSpecRules(field: string, { nodeClassRef, requirements }: NodeSpec): readonly FieldError[] {
  const names = ['group', 'kind', 'name'] as const;
  return [
    ...names.flatMap((name) =>
      unless(nodeClassRef[name] !== '', `${field}.nodeClassRef.${name}`, `${name} may not be empty`),
    ),
    ...requirementRules(`${field}.requirements`, requirements),
  ];
}

/** @param before the NodePool as it was; undefined for a new one */
export function nodePoolRules({ spec }: NodePoolContent, before: NodePoolContent | undefined): readonly FieldError[] {
  const isStatic = spec.replicas !== undefined;
  const limits = Object.keys(spec.limits ?? {});
  const { nodeClassRef } = spec.template.spec;
  const referenceBefore = before?.spec.template.spec.nodeClassRef ?? nodeClassRef;
  const labels = Object.keys(spec.template.metadata?.labels ?? {});
  const reference = 'spec.template.spec.nodeClassRef';
  return [
    ...unless(
      before === undefined || (before.spec.replicas !== undefined) === isStatic,
      'spec',
      'Cannot transition NodePool between static (replicas set) and dynamic (replicas unset) provisioning modes',
    ),
    ...unless(
      !isStatic || limits.length === 0 || (limits.length === 1 && limits[0] === 'nodes'),
      'spec',
      "only 'limits.nodes' is supported on static NodePools",
    ),
    ...unless(!isStatic || spec.weight === undefined, 'spec', "'weight' is not supported on static NodePools"),
    ...unless(
      spec.disruption.budgets.every(({ schedule, duration }) => (schedule === undefined) === (duration === undefined)),
      'spec.disruption.budgets',
      "'schedule' must be set with 'duration'",
    ),
    ...labels.flatMap((key) => keyRules('spec.template.metadata.labels', key)),
    ...unless(nodeClassRef.group === referenceBefore.group, reference, 'nodeClassRef.group is immutable'),
    ...unless(nodeClassRef.kind === referenceBefore.kind, reference, 'nodeClassRef.kind is immutable'),
    ...nodeSpecRules('spec.template.spec', spec.template.spec),
  ];
}

/** @param before the NodeClaim as it was; undefined for a new one */
export function nodeClaimRules(
  { spec }: NodeClaimContent,
  before: NodeClaimContent | undefined,
): readonly FieldError[] {
  return [
    ...unless(before === undefined || isDeepStrictEqual(spec, before.spec), 'spec', 'spec is immutable'),
    ...nodeSpecRules('spec', spec),
  ];
}
