import { describe, expect, it } from '@jest/globals';

import { planPool } from '../../karpenter/plan.js';
import { machinesOf, poolOf, easyRules } from './poolFixture.js';
import { unboundedCluster } from '../../karpenter/clusterView.js';

describe('perf', () => {
  it.each([['10%']])('budget %s', (nodes) => {
    const pod = { metadata: {name:'p', uid:'p', namespace:'d', ownerReferences:[]}, spec: {containers: []} };
    const pool = poolOf(machinesOf('n', 50, { driftedSince: '2026-01-05T12:00:00Z', pods: [pod], capacity:{cpu:'4', memory:'16Gi', pods:'110'}, spec:{expireAfter:'720h'} , createdAt: '2026-01-05T11:00:00Z'}), { budgets: [{ nodes }] });
    const t = performance.now();
    const plan = planPool(pool, { atMs: Date.parse('2026-01-05T12:00:00Z'), rules: easyRules, cluster: unboundedCluster });
    console.log(nodes, plan.waves.length, plan.endsMs, performance.now() - t, plan.surge);
    expect(1).toBe(1);
  });
});
