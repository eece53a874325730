import { describe, expect, it } from '@jest/globals';

import type { NodeClaim } from '../../karpenter/api.js';
import { terminationDeadlineMs, terminationGracePeriodMs, terminationTimestamp } from '../../karpenter/termination.js';
import { machineOf } from './poolFixture.js';

function nodeClaimWith(terminationGracePeriod?: string, timestamp?: string): NodeClaim {
  const { nodeClaim } = machineOf('a');
  return {
    ...nodeClaim,
    metadata: {
      ...nodeClaim.metadata,
      ...(timestamp === undefined
        ? {}
        : { annotations: { 'karpenter.sh/nodeclaim-termination-timestamp': timestamp } }),
    },
    spec: { ...nodeClaim.spec, terminationGracePeriod },
  };
}

describe('a NodeClaim’s terminationGracePeriod', () => {
  it.each([
    { text: undefined, ms: undefined },
    { text: '5m', ms: 300_000 },
    { text: '48h', ms: 172_800_000 },
    { text: '0s', ms: 0 },
  ])('$text is $ms ms', ({ text, ms }) => {
    expect(terminationGracePeriodMs(nodeClaimWith(text))).toBe(ms);
  });

  it('that cannot be read is named with what would be right', () => {
    expect(() => terminationGracePeriodMs(nodeClaimWith('soon'))).toThrow(
      'NodeClaim a: spec.terminationGracePeriod: "soon" is no Go duration such as 30m or 1h',
    );
  });
});

describe('the termination timestamp', () => {
  it('is written in whole seconds and read back', () => {
    const text = terminationTimestamp(Date.parse('2026-01-05T12:00:00.700Z'));
    expect(text).toBe('2026-01-05T12:00:00Z');
    expect(terminationDeadlineMs(nodeClaimWith('5m', text))).toBe(Date.parse('2026-01-05T12:00:00Z'));
    expect(terminationDeadlineMs(nodeClaimWith('5m'))).toBeUndefined();
  });
});
