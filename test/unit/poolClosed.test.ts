import { describe, expect, it } from '@jest/globals';

import type { NodeClass } from '../../karpenter/api.js';
import type { BudgetError } from '../../karpenter/budget.js';
import type { Pool } from '../../karpenter/pool.js';
import { poolClosedWhy } from '../../karpenter/poolClosed.js';
import type { NodePoolShape } from './poolFixture.js';
import { isTrueSince, poolOf, readyNodeClass } from './poolFixture.js';

const notReady = { type: 'Ready', status: 'False', reason: 'SubnetNotFound', message: 'no such subnet' } as const;
const { metadata, spec } = readyNodeClass;

function withClass(nodeClass: NodeClass | undefined): Partial<Pool> {
  return { nodeClass };
}

describe('a NodePool', () => {
  it.each<[string, NodePoolShape, Partial<Pool>, string | undefined]>([
    ['that is Ready is open', { conditions: [isTrueSince('Ready')] }, {}, undefined],
    ['of whose readiness nobody has an opinion is open', {}, {}, undefined],
    ['that is being deleted', { isDeleted: true }, {}, 'NodePool general-purpose is being deleted'],
    [
      'that is not handed over',
      { annotations: {} },
      {},
      'NodePool general-purpose is not annotated driftless.dev/managed: "true"',
    ],
    [
      'that is not Ready',
      { conditions: [notReady] },
      {},
      'NodePool general-purpose is not Ready: SubnetNotFound: no such subnet',
    ],
    [
      'that may be Ready',
      { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'AwaitingReconciliation' }] },
      {},
      'NodePool general-purpose is not Ready: AwaitingReconciliation',
    ],
    ['whose NodeClass is gone', {}, withClass(undefined), 'AKSNodeClass default does not exist'],
    [
      'whose NodeClass is being deleted',
      {},
      withClass({ ...readyNodeClass, metadata: { ...metadata, deletionTimestamp: '2026-01-05T12:00:00Z' } }),
      'AKSNodeClass default is being deleted',
    ],
    [
      'whose NodeClass is not Ready',
      {},
      withClass({ metadata, spec, status: { conditions: [notReady] } }),
      'AKSNodeClass default is not Ready: SubnetNotFound: no such subnet',
    ],
    ['of whose NodeClass nobody has an opinion is open', {}, withClass({ metadata, spec }), undefined],
  ])('%s', (_, nodePool, parts, expected) => {
    expect(poolClosedWhy({ ...poolOf([], nodePool), ...parts }, [])).toBe(expected);
  });

  it('of another NodeClass than Azure’s is closed', () => {
    const pool = poolOf([]);
    const { nodePool } = pool;
    const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
    const template = { spec: { ...nodePool.spec.template.spec, nodeClassRef } };
    const other: Pool = { ...pool, nodePool: { ...nodePool, spec: { ...nodePool.spec, template } } };
    expect(poolClosedWhy(other, [])).toBe(
      'NodePool general-purpose: spec.template.spec.nodeClassRef is karpenter.k8s.aws/EC2NodeClass, it must be karpenter.azure.com/AKSNodeClass',
    );
  });

  it('with a budget that cannot be read is closed, and says where and what', () => {
    const error: BudgetError = { index: 2, field: 'schedule', text: '0 0 * * 7', message: 'must be this' };
    expect(poolClosedWhy(poolOf([]), [error, { ...error, index: 3 }])).toBe(
      'NodePool general-purpose: spec.disruption.budgets[2].schedule "0 0 * * 7": must be this',
    );
  });
});
