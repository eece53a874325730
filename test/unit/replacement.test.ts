import { describe, expect, it } from '@jest/globals';

import type { NodeClaim, NodePool } from '../../karpenter/api.js';
import { buildReplacement, replacementName, reservation, virtualMachineName } from '../../karpenter/replacement.js';
import { machineOf, nodePoolOf } from './poolFixture.js';

const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

describe('the name of a replacement', () => {
  it('is derived: whoever asks again asks for the same VM', () => {
    const name = replacementName('general-purpose', 'uid-a', 0, 0);
    expect(replacementName('general-purpose', 'uid-a', 0, 0)).toBe(name);
    expect(name).toMatch(/^general-purpose-[a-z0-9]{8}$/);
    expect(virtualMachineName(name)).toBe(`aks-${name}`);
  });

  it('is another for every NodeClaim, round and attempt', () => {
    const names = new Set<string>();
    for (let uid = 0; uid < 100; uid += 1) {
      for (let round = 0; round < 5; round += 1) {
        for (let attempt = 0; attempt < 4; attempt += 1) {
          names.add(replacementName('general-purpose', `uid-${uid}`, round, attempt));
        }
      }
    }
    expect(names.size).toBe(100 * 5 * 4);
  });

  it('makes a Node name of 63 characters at the most, however long the NodePool’s is', () => {
    const node = virtualMachineName(replacementName('x'.repeat(253), 'uid-a', 0, 0));
    expect(node.length).toBeLessThanOrEqual(63);
    expect(node).toMatch(dnsLabel);
  });
});

describe('the replacement NodeClaim', () => {
  const mark = { owner: 'namespace-id', workflowId: 'replace/c/old/uid-old', launch: { round: 2, attempt: 1 } };
  const offering = { instanceType: 'Standard_D2as_v5', zone: 'westus2-1', capacityType: 'spot' };
  const requests = { cpu: '2300m', pods: '3' };
  const base = machineOf('old', { requests: { cpu: '1100m' } }).nodeClaim;
  const old: NodeClaim = {
    ...base,
    metadata: {
      ...base.metadata,
      labels: { 'kubernetes.io/arch': 'arm64', 'kubernetes.io/os': 'linux', 'mine.example/of-the-old-one': 'x' },
      annotations: { 'karpenter.sh/nodepool-hash': 'hash-of-the-old-one' },
    },
  };

  function templatedPool(spec: Partial<NodePool['spec']['template']['spec']>): NodePool {
    const nodePool = nodePoolOf({
      annotations: {
        'karpenter.sh/nodepool-hash': '123',
        'karpenter.sh/nodepool-hash-version': 'v3',
        'driftless.dev/managed': 'true',
      },
    });
    const { template } = nodePool.spec;
    const metadata = { labels: { team: 'shop' }, annotations: { 'mine.example/note': 'n' } };
    return { ...nodePool, spec: { ...nodePool.spec, template: { metadata, spec: { ...template.spec, ...spec } } } };
  }

  it('is stamped from the NodePool’s template, narrowed to one offering', () => {
    const nodePool = templatedPool({
      requirements: [
        { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['westus2-1', 'westus2-2'] },
        { key: 'karpenter.azure.com/sku-family', operator: 'In', values: ['D'] },
      ],
      taints: [{ key: 'dedicated', value: 'shop', effect: 'NoSchedule' }],
      startupTaints: [{ key: 'cni', effect: 'NoExecute' }],
      expireAfter: '720h',
      terminationGracePeriod: '1h',
    });
    expect(buildReplacement({ nodePool, old, offering, requests, name: 'general-purpose-x', mark })).toEqual({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: {
        name: 'general-purpose-x',
        labels: {
          'kubernetes.io/arch': 'arm64',
          'kubernetes.io/os': 'linux',
          team: 'shop',
          'node.kubernetes.io/instance-type': 'Standard_D2as_v5',
          'topology.kubernetes.io/zone': 'westus2-1',
          'karpenter.sh/capacity-type': 'spot',
          'karpenter.sh/nodepool': 'general-purpose',
          'karpenter.azure.com/aksnodeclass': 'default',
        },
        annotations: {
          'mine.example/note': 'n',
          'karpenter.sh/nodepool-hash': '123',
          'karpenter.sh/nodepool-hash-version': 'v3',
          'driftless.dev/owner': 'namespace-id',
          'driftless.dev/workflow': 'replace/c/old/uid-old',
          'driftless.dev/launch': '2/1',
          'driftless.dev/replaces': 'uid-old',
        },
        finalizers: ['karpenter.sh/termination'],
        ownerReferences: [
          {
            apiVersion: 'karpenter.sh/v1',
            kind: 'NodePool',
            name: 'general-purpose',
            uid: 'uid-pool',
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [
          { key: 'karpenter.azure.com/sku-family', operator: 'In', values: ['D'] },
          { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['Standard_D2as_v5'] },
          { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['westus2-1'] },
          { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] },
        ],
        taints: [
          { key: 'dedicated', value: 'shop', effect: 'NoSchedule' },
          { key: 'driftless.dev/replacement', effect: 'NoSchedule' },
        ],
        startupTaints: [{ key: 'cni', effect: 'NoExecute' }],
        expireAfter: '720h',
        terminationGracePeriod: '1h',
        resources: { requests: { cpu: '2300m', pods: '3' } },
      },
    });
  });

  it('has no field that the template does not have', () => {
    const replacement = buildReplacement({ nodePool: nodePoolOf(), old, offering, requests, name: 'x', mark });
    expect(replacement).toHaveProperty('spec', {
      nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
      requirements: [
        { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['Standard_D2as_v5'] },
        { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['westus2-1'] },
        { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] },
      ],
      taints: [reservation],
      resources: { requests: { cpu: '2300m', pods: '3' } },
    });
    expect(replacement).toHaveProperty('metadata.annotations', {
      'driftless.dev/owner': 'namespace-id',
      'driftless.dev/workflow': 'replace/c/old/uid-old',
      'driftless.dev/replaces': 'uid-old',
      'driftless.dev/launch': '2/1',
    });
  });
});
