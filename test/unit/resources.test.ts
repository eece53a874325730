import { describe, expect, it } from '@jest/globals';

import type { Pod } from '../../karpenter/api.js';
import {
  fitsInto,
  formatResources,
  maxResources,
  parseResources,
  podRequests,
  sumResources,
} from '../../karpenter/resources.js';
import { podOf } from './podFixture.js';

type Container = Pod['spec']['containers'][number];

function asking(requests: Readonly<Record<string, string>>): Container {
  return { resources: { requests: { ...requests } } };
}

describe('resources', () => {
  it('are read, added, and compared one by one', () => {
    const a = parseResources({ cpu: '500m', memory: '1Gi' });
    const b = parseResources({ cpu: '2', 'nvidia.com/gpu': '1' });
    expect(sumResources(a, b)).toEqual({ cpu: 2.5, memory: 2 ** 30, 'nvidia.com/gpu': 1 });
    expect(maxResources(a, b)).toEqual({ cpu: 2, memory: 2 ** 30, 'nvidia.com/gpu': 1 });
    expect(parseResources(undefined)).toEqual({});
    expect(sumResources()).toEqual({});
  });

  it.each([
    [{ cpu: 2 }, { cpu: 2, memory: 0 }, true],
    [{ cpu: 2.001 }, { cpu: 2 }, false],
    [{ gpu: 1 }, { cpu: 2 }, false],
    [{ gpu: 0 }, { cpu: 2 }, true],
    [{}, {}, true],
    // As numbers they add up to a little more than 0.3.
    [sumResources({ cpu: 0.1 }, { cpu: 0.2 }), { cpu: 0.3 }, true],
  ])('%j fit into %j: %s', (wanted, room, expected) => {
    expect(fitsInto(wanted, room)).toBe(expected);
  });

  it('are written as whole bytes, and thousandths of everything else, never less than asked', () => {
    expect(formatResources({ cpu: 1.2345, memory: 1024.5, 'ephemeral-storage': 10, pods: 3 })).toEqual({
      cpu: '1235m',
      memory: '1025',
      'ephemeral-storage': '10',
      pods: '3',
    });
    expect(formatResources(sumResources({ cpu: 0.1 }, { cpu: 0.2 }))).toEqual({ cpu: '300m' });
  });
});

describe('what the scheduler reserves for a pod', () => {
  const sidecar = (requests: Readonly<Record<string, string>>) => ({ ...asking(requests), restartPolicy: 'Always' });

  it.each<[string, Partial<Pod['spec']>, Record<string, number>]>([
    ['nothing but its place', {}, {}],
    ['its containers together', { containers: [asking({ cpu: '1' }), asking({ cpu: '500m' }), {}] }, { cpu: 1.5 }],
    [
      'an init container, where that is more',
      {
        containers: [asking({ cpu: '1', memory: '1Gi' })],
        initContainers: [asking({ cpu: '3' }), asking({ cpu: '2' })],
      },
      { cpu: 3, memory: 2 ** 30 },
    ],
    [
      'its sidecars beside its containers',
      { containers: [asking({ cpu: '1' })], initContainers: [sidecar({ cpu: '1' }), sidecar({ cpu: '1' })] },
      { cpu: 3 },
    ],
    [
      'an init container with the sidecars before it only',
      {
        containers: [asking({ cpu: '1' })],
        initContainers: [sidecar({ cpu: '1' }), asking({ cpu: '4' }), sidecar({ cpu: '2' })],
      },
      { cpu: 5 },
    ],
    [
      'its overhead',
      { containers: [asking({ cpu: '1' })], overhead: { cpu: '250m', memory: '1Ki' } },
      { cpu: 1.25, memory: 1024 },
    ],
    [
      'what is asked for the pod as a whole, instead of its containers',
      {
        containers: [asking({ cpu: '4', memory: '1Ki' })],
        resources: { requests: { cpu: '2' } },
        overhead: { cpu: '1' },
      },
      { cpu: 3, memory: 1024 },
    ],
  ])('is %s', (_, spec, expected) => {
    expect(podRequests(podOf('a', { spec }))).toEqual({ ...expected, pods: 1 });
  });
});
