import { describe, expect, it } from '@jest/globals';

import type { Requirement } from '../../karpenter/api.js';
import type { InstanceType } from '../../karpenter/instanceType.js';
import type { Offering } from '../../karpenter/offering.js';
import type { OfferingQuestion } from '../../karpenter/offeringChoice.js';
import { chooseAmong } from '../../karpenter/offeringChoice.js';
import type { Machine } from '../../karpenter/pool.js';
import { machineOf, nodePoolOf } from './poolFixture.js';

const mib = 2 ** 20;
const atMs = Date.parse('2026-06-01T00:00:00Z');

function sizeOf(name: string, vCpus: number, memoryGib: number, change: Partial<InstanceType> = {}): InstanceType {
  return {
    name: `Standard_${name}`,
    quotaFamily: `standard${name.replace(/\d+/, '').replace('_', '')}Family`,
    location: 'westus2',
    zones: ['westus2-1', 'westus2-2', 'westus2-3'],
    vCpus,
    memoryMib: memoryGib * 1024,
    architecture: 'amd64',
    gpus: 0,
    hasPremiumStorage: true,
    hasAcceleratedNetworking: true,
    isGeneration2: true,
    isSpotCapable: true,
    ...change,
  };
}

const instanceTypes: readonly InstanceType[] = [
  sizeOf('D16s_v5', 16, 64),
  sizeOf('D4s_v5', 4, 16),
  sizeOf('D2as_v5', 2, 8),
  sizeOf('D2s_v5', 2, 8),
  sizeOf('D2ls_v5', 2, 4),
  sizeOf('E2s_v5', 2, 16),
];

const own: Offering = { instanceType: 'Standard_D2as_v5', zone: 'westus2-2', capacityType: 'on-demand' };
const old = machineOf('old', { offering: own, allocatable: { cpu: '1900m', memory: '7Gi', pods: '110' } });
const onDemandOnly: Requirement = { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] };

interface Question extends Partial<Omit<OfferingQuestion, 'nodePool' | 'old' | 'nodeClaims'>> {
  readonly requirements?: readonly Requirement[];
  readonly machines?: readonly Machine[];
  readonly machine?: Machine;
  readonly limits?: Readonly<Record<string, string>>;
}

function ask({ requirements = [onDemandOnly], machines = [], machine = old, limits, ...change }: Question = {}) {
  const nodePool = nodePoolOf(limits === undefined ? {} : { limits });
  const { template } = nodePool.spec;
  const spec = { ...template.spec, requirements: [...requirements] };
  return chooseAmong({
    nodePool: { ...nodePool, spec: { ...nodePool.spec, template: { ...template, spec } } },
    old: machine.nodeClaim,
    nodeClaims: [machine, ...machines].map(({ nodeClaim }) => nodeClaim),
    instanceTypes,
    shape: { requests: { cpu: 1.1, memory: 1024 * mib, pods: 3 }, zones: undefined },
    unavailable: [],
    atMs,
    limit: 3,
    ...change,
  });
}

function chosen(question: Question = {}): string[] {
  return ask(question).offerings.map(
    ({ instanceType, zone, capacityType }) =>
      `${instanceType.replace('Standard_', '')} ${zone.replace('westus2-', '')}${capacityType === 'spot' ? ' spot' : ''}`,
  );
}

describe('the offerings to try for a replacement', () => {
  it('are the old node’s own first, then the cheapest-looking VM size in its zone, then another size in another zone', () => {
    expect(chosen()).toEqual(['D2as_v5 2', 'D2ls_v5 2', 'D2s_v5 1']);
  });

  it('prefer VM sizes that the pool runs on to smaller ones that it does not', () => {
    const other = machineOf('other', {
      offering: { ...own, instanceType: 'Standard_D4s_v5', zone: 'westus2-1' },
      allocatable: { cpu: '3900m', memory: '14Gi', pods: '110' },
    });
    expect(chosen({ machines: [other] })).toEqual(['D2as_v5 2', 'D4s_v5 2', 'D2ls_v5 1']);
  });

  it('are no more than asked for', () => {
    expect(chosen({ limit: 1 })).toEqual(['D2as_v5 2']);
    expect(chosen({ limit: 0 })).toEqual([]);
  });

  it('are all that there are, none twice, when there is no limit', () => {
    const all = chosen({ limit: 1000 });
    expect(new Set(all).size).toBe(all.length);
    expect(all).toHaveLength(instanceTypes.length * 3);
  });

  it('vary the zone where there is but one VM size', () => {
    const requirements = [
      onDemandOnly,
      { key: 'karpenter.azure.com/sku-name', operator: 'In' as const, values: ['Standard_D2as_v5'] },
    ];
    expect(chosen({ requirements })).toEqual(['D2as_v5 2', 'D2as_v5 1', 'D2as_v5 3']);
  });

  it('stay on-demand while that is to be had, and leave spot after two attempts', () => {
    const onSpot = machineOf('old', { offering: { ...own, capacityType: 'spot' } });
    expect(chosen({ requirements: [] })).toEqual(['D2as_v5 2', 'D2ls_v5 2', 'D2s_v5 1']);
    expect(chosen({ requirements: [], machine: onSpot })).toEqual(['D2as_v5 2 spot', 'D2ls_v5 2 spot', 'D2s_v5 1']);
  });

  it('do not include the old node’s own when it no longer meets the requirements', () => {
    const requirements: Requirement[] = [
      onDemandOnly,
      { key: 'karpenter.azure.com/sku-family', operator: 'In', values: ['E'] },
    ];
    expect(chosen({ requirements })).toEqual(['E2s_v5 2', 'E2s_v5 1', 'E2s_v5 3']);
  });

  it('do not include the old node’s own when Azure no longer has it', () => {
    const without = instanceTypes.filter(({ name }) => name !== own.instanceType);
    expect(chosen({ instanceTypes: without })).toEqual(['D2ls_v5 2', 'D2s_v5 2', 'E2s_v5 1']);
  });

  it('include the old node’s own where it is in no zone, without a look at the size’s zones', () => {
    const regional = machineOf('old', { offering: { ...own, zone: '0' } });
    expect(ask({ machine: regional, limit: 1 }).offerings).toEqual([{ ...own, zone: '0' }]);
  });

  it('are only in the zone of the volumes', () => {
    expect(chosen({ shape: { requests: { cpu: 1 }, zones: ['westus2-2'] } })).toEqual([
      'D2as_v5 2',
      'D2ls_v5 2',
      'D2s_v5 2',
    ]);
  });

  it.each<[string, Partial<InstanceType>]>([
    ['another architecture', { architecture: 'arm64' }],
    ['a GPU', { gpus: 1 }],
    ['generation 1 only', { isGeneration2: false }],
    ['no premium storage', { hasPremiumStorage: false }],
    ['constrained vCPUs', { name: 'Standard_D4-2s_v5' }],
    ['confidential computing', { name: 'Standard_DC2as_v5' }],
    ['one vCPU', { vCpus: 1 }],
  ])('are not of VM sizes nobody would move pods to unasked: %s', (_, change) => {
    const odd = sizeOf('D2xs_v5', 2, 6, change);
    const shape = { requests: { cpu: 0.1 }, zones: undefined };
    const offered = ask({ instanceTypes: [odd, ...instanceTypes], shape, limit: 1000 }).offerings;
    expect(offered.map(({ instanceType }) => instanceType)).not.toContain(odd.name);
    // The same size without its oddity is taken.
    const plain = sizeOf('D2xs_v5', 2, 6);
    expect(ask({ instanceTypes: [plain, ...instanceTypes], shape, limit: 1000 }).offerings).toContainEqual({
      ...own,
      instanceType: plain.name,
    });
  });
});

describe('room for the pods', () => {
  it('is what a node of the pool has of that size, where there is one', () => {
    const roomy = machineOf('a', {
      offering: { ...own, instanceType: 'Standard_D2ls_v5' },
      allocatable: { cpu: '1900m', memory: '3686Mi', pods: '110' },
    });
    const shape = { requests: { memory: 3500 * mib, pods: 1 }, zones: undefined };
    expect(chosen({ shape })).not.toContain('D2ls_v5 2');
    expect(chosen({ shape, machines: [roomy] })).toContain('D2ls_v5 2');
  });

  it.each<[string, Readonly<Record<string, number>>, string[]]>([
    ['cpu, less what the kubelet keeps', { cpu: 1.91 }, ['D2as_v5 2', 'D4s_v5 2', 'D16s_v5 1']],
    ['cpu that just fits', { cpu: 1.9 }, ['D2as_v5 2', 'D2ls_v5 2', 'D2s_v5 1']],
    ['memory', { memory: 5 * 1024 * mib }, ['D2as_v5 2', 'E2s_v5 2', 'D4s_v5 1']],
    ['pods, as many as on the old node', { pods: 111 }, ['D2as_v5 2', 'D2as_v5 1', 'D2as_v5 3']],
    [
      'a resource that no VM size is known to have',
      { 'example.com/thing': 1 },
      ['D2as_v5 2', 'D2as_v5 1', 'D2as_v5 3'],
    ],
  ])('is estimated otherwise: %s', (_, requests, expected) => {
    expect(chosen({ shape: { requests, zones: undefined } })).toEqual(expected);
  });
});

describe('the requirements of a NodePool', () => {
  const cases: readonly (readonly [string, Requirement['operator'], readonly string[], readonly string[]])[] = [
    ['karpenter.azure.com/sku-cpu', 'Lt', ['4'], ['D2as_v5', 'D2ls_v5', 'D2s_v5', 'E2s_v5']],
    ['karpenter.azure.com/sku-cpu', 'Lte', ['4'], ['D2as_v5', 'D2ls_v5', 'D2s_v5', 'D4s_v5', 'E2s_v5']],
    ['karpenter.azure.com/sku-cpu', 'Gt', ['4'], ['D16s_v5']],
    ['karpenter.azure.com/sku-cpu', 'Gte', ['4'], ['D16s_v5', 'D4s_v5']],
    ['karpenter.azure.com/sku-memory', 'Gt', ['16383'], ['D16s_v5', 'D4s_v5', 'E2s_v5']],
    ['karpenter.azure.com/sku-family', 'NotIn', ['D'], ['E2s_v5']],
    ['karpenter.azure.com/sku-version', 'In', ['4'], []],
    ['karpenter.azure.com/sku-name', 'In', ['Standard_D4s_v5'], ['D4s_v5']],
    [
      'node.kubernetes.io/instance-type',
      'NotIn',
      ['Standard_D2as_v5', 'Standard_D16s_v5'],
      ['D2ls_v5', 'D2s_v5', 'D4s_v5', 'E2s_v5'],
    ],
    ['kubernetes.io/arch', 'In', ['arm64'], []],
    ['kubernetes.io/os', 'In', ['linux'], ['D16s_v5', 'D2as_v5', 'D2ls_v5', 'D2s_v5', 'D4s_v5', 'E2s_v5']],
    ['topology.kubernetes.io/region', 'NotIn', ['westus2'], []],
    ['topology.kubernetes.io/zone', 'Exists', [], ['D16s_v5', 'D2as_v5', 'D2ls_v5', 'D2s_v5', 'D4s_v5', 'E2s_v5']],
    ['topology.kubernetes.io/zone', 'DoesNotExist', [], []],
    // How the NodePool gives a label of the operator's own to its nodes.
    ['team', 'In', ['shop'], ['D16s_v5', 'D2as_v5', 'D2ls_v5', 'D2s_v5', 'D4s_v5', 'E2s_v5']],
    // Not derived: what the pool runs on has been chosen by it, of others it is not known.
    ['karpenter.azure.com/sku-storage-ephemeralos-maxsize', 'Gt', ['50'], ['D2as_v5']],
  ];

  it.each(cases)('%s %s %j', (key, operator, values, expected) => {
    const requirements: Requirement[] = [onDemandOnly, { key, operator, values: [...values] }];
    const shape = { requests: { cpu: 0.1 }, zones: undefined };
    const sizes = ask({ requirements, shape, limit: 1000 }).offerings.map(({ instanceType }) =>
      instanceType.replace('Standard_', ''),
    );
    expect([...new Set(sizes)].sort()).toEqual(expected);
  });

  it('narrow zone and capacity type', () => {
    const requirements: Requirement[] = [
      { key: 'topology.kubernetes.io/zone', operator: 'NotIn', values: ['westus2-2'] },
      { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] },
    ];
    expect(chosen({ requirements })).toEqual(['D2as_v5 1 spot', 'D2ls_v5 1 spot', 'D2s_v5 3 spot']);
  });
});

describe('an offering that is marked unavailable', () => {
  const mark = {
    instanceType: own.instanceType,
    zone: 'any',
    capacityType: 'any',
    untilMs: atMs + 1,
    code: 'AllocationFailed',
  };

  it('is left out, and the mark is told', () => {
    const answer = ask({ unavailable: [mark] });
    expect(answer.offerings.map(({ instanceType }) => instanceType)).not.toContain(own.instanceType);
    expect(answer.marks).toEqual([mark]);
  });

  it('is used again when the mark has expired', () => {
    expect(ask({ unavailable: [{ ...mark, untilMs: atMs }] })).toMatchObject({ offerings: [own, {}, {}], marks: [] });
  });

  it('takes with it what has as many vCPUs or more of its family', () => {
    const unavailable = [{ ...mark, instanceType: 'Standard_D4s_v5' }];
    const sizes = ask({ unavailable, limit: 1000 }).offerings.map(({ instanceType }) => instanceType);
    expect(sizes).toContain('Standard_D2s_v5');
    expect(sizes).not.toContain('Standard_D4s_v5');
    expect(sizes).not.toContain('Standard_D16s_v5');
  });
});

describe('the limits of a NodePool', () => {
  const sizes = (limits?: Readonly<Record<string, string>>): Set<string> =>
    new Set(ask({ limit: 100, ...(limits === undefined ? {} : { limits }) }).offerings.map((one) => one.instanceType));

  it.each<[string, Readonly<Record<string, string>> | undefined, readonly string[], readonly string[]]>([
    ['without them', undefined, ['Standard_D4s_v5', 'Standard_E2s_v5', 'Standard_D2s_v5'], []],
    ['of vCPUs', { cpu: '100' }, ['Standard_E2s_v5', 'Standard_D2s_v5'], ['Standard_D4s_v5', 'Standard_D16s_v5']],
    ['of memory', { memory: '1Ti' }, ['Standard_D2s_v5'], ['Standard_D4s_v5', 'Standard_E2s_v5']],
    ['of nodes only', { nodes: '10' }, ['Standard_D4s_v5', 'Standard_E2s_v5'], []],
  ])('leave out what is larger than the old node, %s', (_, limits, tried, leftOut) => {
    const found = sizes(limits);
    expect(tried.filter((name) => !found.has(name))).toEqual([]);
    expect(leftOut.filter((name) => found.has(name))).toEqual([]);
    expect(found.has(own.instanceType)).toBe(true);
  });
});
