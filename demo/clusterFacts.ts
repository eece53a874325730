import { z } from 'zod';

import { nodeClaimSchema, nodeSchema } from '../karpenter/api.js';
import type { Node, NodeClaim } from '../karpenter/api.js';
import type { ClusterAuditEntry } from '../simulator/cluster/audit.js';

/** Something that has happened in the cluster, as far as a report is interested. */
export type ClusterFact =
  | { readonly kind: 'nodeClaim'; readonly at: number; readonly nodeClaim: NodeClaim; readonly isGone: boolean }
  | { readonly kind: 'node'; readonly at: number; readonly node: Node; readonly isGone: boolean }
  | { readonly kind: 'podCreated'; readonly at: number; readonly pod: string }
  | { readonly kind: 'podBound'; readonly at: number; readonly pod: string }
  | { readonly kind: 'podEvicted'; readonly at: number; readonly pod: string };

const podName = z.object({ metadata: z.object({ namespace: z.string(), name: z.string() }) });

function isSuccess({ status }: ClusterAuditEntry): boolean {
  return status >= 200 && status < 300;
}

/** Reads one line of the audit log; undefined when it is of no interest. */
export function readClusterFact(entry: ClusterAuditEntry): ClusterFact | undefined {
  const { at, resource, verb, object, removed } = entry;
  if (!isSuccess(entry)) return undefined;
  const isGone = removed === true;
  if (resource === 'nodeclaims' && object !== undefined) {
    return { kind: 'nodeClaim', at, nodeClaim: nodeClaimSchema.parse(object), isGone };
  }
  if (resource === 'nodes' && object !== undefined) return { kind: 'node', at, node: nodeSchema.parse(object), isGone };
  if (resource !== 'pods') return undefined;
  if (verb === 'create' && object !== undefined) return { kind: 'podCreated', at, pod: nameOf(object) };
  const pod = `${entry.namespace ?? ''}/${entry.name ?? ''}`;
  if (verb === 'bind') return { kind: 'podBound', at, pod };
  return verb === 'evict' ? { kind: 'podEvicted', at, pod } : undefined;
}

/** All that an audit log tells. */
export function clusterFacts(entries: readonly ClusterAuditEntry[]): ClusterFact[] {
  return entries.map(readClusterFact).filter((fact) => fact !== undefined);
}

function nameOf(object: unknown): string {
  const { metadata } = podName.parse(object);
  return `${metadata.namespace}/${metadata.name}`;
}
