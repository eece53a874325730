import { describe, expect, it } from '@jest/globals';

import type { Condition } from '../../karpenter/api.js';
import { getCondition, isTrue, withCondition } from '../../karpenter/conditions.js';

const before = '2026-01-01T00:00:00Z';
const now = '2026-01-05T12:00:00Z';
const launched: Condition = { type: 'Launched', status: 'Unknown', reason: 'Launching', lastTransitionTime: before };
const ready: Condition = { type: 'Ready', status: 'False', lastTransitionTime: before };

describe('reading a condition', () => {
  it.each([
    ['True', true],
    ['False', false],
    ['Unknown', false],
  ] as const)('status %s is true: %s', (status, expected) => {
    expect(isTrue({ status: { conditions: [{ type: 'Drifted', status }] } }, 'Drifted')).toBe(expected);
  });

  it.each([
    ['no status', {}],
    ['no conditions', { status: {} }],
    ['another condition only', { status: { conditions: [ready] } }],
  ])('an object with %s has none', (_, object) => {
    expect(getCondition(object, 'Drifted')).toBeUndefined();
    expect(isTrue(object, 'Drifted')).toBe(false);
  });
});

describe('setting a condition', () => {
  it('appends one that was not there, from now on', () => {
    const next = { type: 'Drifted', status: 'True', reason: 'ImageDrift' } as const;
    expect(withCondition([ready], next, now)).toEqual([ready, { ...next, lastTransitionTime: now }]);
  });

  it('moves lastTransitionTime when the status changes, and keeps the place and the others', () => {
    const next = { type: 'Launched', status: 'False', reason: 'AllocationFailed', message: 'no room' } as const;
    expect(withCondition([launched, ready], next, now)).toEqual([{ ...next, lastTransitionTime: now }, ready]);
  });

  it('keeps lastTransitionTime when only reason or message change', () => {
    const next = { type: 'Launched', status: 'Unknown', reason: 'Waiting', message: 'for Azure' } as const;
    expect(withCondition([launched], next, now)).toEqual([{ ...next, lastTransitionTime: before }]);
  });

  it('gives a condition that never had one a lastTransitionTime', () => {
    const bare: Condition = { type: 'Launched', status: 'True' };
    const next = { type: 'Launched', status: 'True', message: 'up' } as const;
    expect(withCondition([bare], next, now)).toEqual([{ ...next, lastTransitionTime: now }]);
  });

  it('answers the same list when nothing would change, so that no write is needed', () => {
    const conditions = [launched, ready];
    expect(withCondition(conditions, { type: 'Launched', status: 'Unknown', reason: 'Launching' }, now)).toBe(
      conditions,
    );
  });
});
