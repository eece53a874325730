import { describe, expect, it } from '@jest/globals';

import { carriesControlPlane } from '../../karpenter/controlPlanePods.js';
import type { PodShape } from './podFixture.js';
import { podOf } from './podFixture.js';

const nameLabel = 'app.kubernetes.io/name';

describe('a node carries Driftless or Temporal', () => {
  it.each<[string, PodShape, boolean]>([
    ['by a pod named driftless', { labels: { [nameLabel]: 'driftless' } }, true],
    ['by a pod named temporal', { labels: { [nameLabel]: 'temporal' } }, true],
    ['by a part of temporal', { labels: { [nameLabel]: 'history', 'app.kubernetes.io/part-of': 'temporal' } }, true],
    ['by a pod that is being deleted', { labels: { [nameLabel]: 'driftless' }, isTerminating: true }, true],
    ['not by a pod that has ended', { labels: { [nameLabel]: 'driftless' }, phase: 'Succeeded' }, false],
    ['not by another', { labels: { [nameLabel]: 'web' } }, false],
    ['not by another that is called so', { labels: { app: 'temporal' } }, false],
    ['not by a pod without labels', {}, false],
  ])('%s', (_, shape, expected) => {
    expect(carriesControlPlane([podOf('other'), podOf('a', shape)])).toBe(expected);
  });

  it('not without pods', () => {
    expect(carriesControlPlane([])).toBe(false);
  });
});
