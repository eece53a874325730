import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { readConfigMap } from '../../activities/kubernetes/configMaps.js';
import { createKubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { findUnavailable, markUnavailable, readUnavailableOfferings } from '../../activities/unavailableOfferings.js';
import type { UnavailableMark } from '../../karpenter/unavailableOfferings.js';
import type { LauncherWorld } from '../support/launcherWorld.js';
import { ownOffering, startLauncherWorld } from '../support/launcherWorld.js';

let world: LauncherWorld;
beforeEach(async () => {
  world = await startLauncherWorld();
});
afterEach(() => world.close());

const name = { namespace: 'kube-system', name: 'driftless-unavailable-offerings' };

function markOf(instanceType: string, fromNowMs = 60_000): UnavailableMark {
  return { instanceType, zone: 'any', capacityType: 'any', untilMs: Date.now() + fromNowMs, code: 'AllocationFailed' };
}

async function write(data: Readonly<Record<string, string>>): Promise<void> {
  const body = { metadata: { name: name.name }, data };
  await world.environment.kubernetes.core.createNamespacedConfigMap({ namespace: name.namespace, body });
}

function marks(): Promise<readonly UnavailableMark[]> {
  return world.attempt(() => readUnavailableOfferings(world.environment));
}

describe('the marks that all workers share', () => {
  it('are kept by many writers at once', async () => {
    const sizes = Array.from({ length: 6 }, (_, index) => `Standard_D${2 * (index + 1)}x_v5`);
    await Promise.all(sizes.map((size) => world.attempt(() => markUnavailable(world.environment, markOf(size)))));
    expect((await marks()).map(({ instanceType }) => instanceType).sort()).toEqual([...sizes].sort());
  });

  it('are pruned when the next is written: expired ones, and what is no mark', async () => {
    const mark = (until: string): string => JSON.stringify({ until, code: 'SkuNotAvailable' });
    await write({
      'Standard_D2s_v5.any.spot': mark('2020-01-01T00:00:00Z'),
      'Standard_D4s_v5.any.spot': mark('2999-01-01T00:00:00Z'),
      'Standard_D8s_v5.any.spot': 'not JSON',
      'somebody.wrote.this.here': mark('2999-01-01T00:00:00Z'),
    });
    await world.attempt(() => markUnavailable(world.environment, markOf('Standard_E2s_v5')));
    expect(Object.keys(await readConfigMap(world.environment.kubernetes, name)).sort()).toEqual([
      'Standard_D4s_v5.any.spot',
      'Standard_E2s_v5.any.any',
    ]);
  });

  it('are never shortened', async () => {
    const long = markOf('Standard_E2s_v5', 3_600_000);
    await world.attempt(() => markUnavailable(world.environment, long));
    await world.attempt(() => markUnavailable(world.environment, markOf('Standard_E2s_v5')));
    expect(await marks()).toEqual([long]);
  });

  it('are not written again by all who find the same', async () => {
    const writes = (): number =>
      world.cluster.simulator.audit.entries.filter(
        ({ resource, verb }) => resource === 'configmaps' && ['create', 'patch'].includes(verb),
      ).length;
    await world.attempt(() => markUnavailable(world.environment, markOf('Standard_E2s_v5')));
    const before = writes();
    await world.attempt(() => markUnavailable(world.environment, markOf('Standard_E2s_v5', 60_001)));
    expect([before, writes()]).toEqual([1, 1]);
  });

  it('forbid nothing when they cannot be read, nor fail anything when they cannot be written', async () => {
    await world.attempt(() => markUnavailable(world.environment, markOf(ownOffering.instanceType)));
    expect(await world.attempt(() => findUnavailable(world.environment, ownOffering))).toBeDefined();
    const { kubeConfig } = world.environment.kubernetes;
    await world.cluster.simulator.close();
    const environment = { ...world.environment, kubernetes: createKubernetesApi(kubeConfig, 'nobody answers') };
    expect(await world.attempt(() => findUnavailable(environment, ownOffering))).toBeUndefined();
    await world.attempt(() => markUnavailable(environment, markOf('Standard_E2s_v5')));
  });
});
