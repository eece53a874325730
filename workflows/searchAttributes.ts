import { defineSearchAttributeKey } from '@temporalio/common';

/** All are of type Keyword; the namespace has to have them before a workflow starts. */
export const searchAttributes = {
  cluster: defineSearchAttributeKey('Cluster', 'KEYWORD'),
  nodePool: defineSearchAttributeKey('NodePool', 'KEYWORD'),
  nodeClaim: defineSearchAttributeKey('NodeClaim', 'KEYWORD'),
  disruptionReason: defineSearchAttributeKey('DisruptionReason', 'KEYWORD'),
  phase: defineSearchAttributeKey('Phase', 'KEYWORD'),
  errorCode: defineSearchAttributeKey('ErrorCode', 'KEYWORD'),
} as const;

export const searchAttributeNames: readonly string[] = Object.values(searchAttributes).map(({ name }) => name);
