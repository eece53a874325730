import type { Node, NodeClaim } from '../../karpenter/api.js';
import type { AzureAuditEntry, OperationEntry } from '../../simulator/azure/audit.js';
import type { ClusterAuditEntry, ClusterVerb } from '../../simulator/cluster/audit.js';
import type { MachineShape } from './poolFixture.js';
import { machineOf } from './poolFixture.js';

/** The instant of the drift in these logs, wall-clock milliseconds. */
export const driftAt = 1_000_000;

/** Two audit logs written by hand, a line at a time, in milliseconds since the drift. */
export class AuditLogs {
  readonly azure: AzureAuditEntry[] = [];
  readonly cluster: ClusterAuditEntry[] = [];

  /** A write that leaves a NodeClaim and its Node in that shape. */
  machine(atMs: number, name: string, shape: MachineShape = {}): this {
    const { nodeClaim, node } = machineOf(name, shape);
    this.nodeClaim(atMs, nodeClaim);
    if (node !== undefined) this.#object(atMs, 'nodes', node);
    return this;
  }

  nodeClaim(atMs: number, nodeClaim: NodeClaim, isGone = false): this {
    return this.#object(atMs, 'nodeclaims', nodeClaim, isGone);
  }

  gone(atMs: number, name: string, shape: MachineShape = {}): this {
    const { nodeClaim, node } = machineOf(name, shape);
    if (node !== undefined) this.#object(atMs, 'nodes', node, true);
    return this.nodeClaim(atMs, nodeClaim, true);
  }

  create(atMs: number, nodeClaim: string, phase: OperationEntry['phase'], code?: string): this {
    this.azure.push({
      kind: 'operation',
      at: driftAt + atMs,
      operationId: `create-${nodeClaim}`,
      operation: 'create',
      virtualMachine: `aks-${nodeClaim}`,
      phase,
      ...(code === undefined ? {} : { code }),
    });
    return this;
  }

  pod(atMs: number, verb: 'create' | 'bind' | 'evict', name: string, status = 201): this {
    const object = { metadata: { namespace: 'shop', name } };
    this.cluster.push({
      ...this.#line(atMs, verb, 'pods'),
      namespace: 'shop',
      name,
      status,
      ...(verb === 'create' ? { object: storedObject(object) } : {}),
    });
    return this;
  }

  /** A write that leaves a ready pod of the workload `inflate` on that node, or one that terminates. */
  workloadPod(atMs: number, verb: 'create' | 'evict', name: string, node: string): this {
    const metadata = {
      namespace: 'default',
      name,
      uid: `uid-${name}`,
      labels: { app: 'inflate' },
      ...(verb === 'evict' ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    };
    const object = storedObject({
      metadata,
      spec: { nodeName: node },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    });
    this.cluster.push({ ...this.#line(atMs, verb, 'pods'), namespace: 'default', name, object });
    return this;
  }

  #object(atMs: number, resource: string, object: NodeClaim | Node, isGone = false): this {
    this.cluster.push({
      ...this.#line(atMs, isGone ? 'delete' : 'patch', resource),
      name: object.metadata.name,
      object: storedObject(object),
      ...(isGone ? { removed: true as const } : {}),
    });
    return this;
  }

  #line(atMs: number, verb: ClusterVerb, resource: string): ClusterAuditEntry {
    return { at: driftAt + atMs, userAgent: 'test', verb, group: '', resource, status: 200, latencyMs: 1 };
  }
}

/** The object with what every stored object has. */
function storedObject<T extends { readonly metadata: { readonly name: string } }>({ metadata, ...content }: T) {
  return {
    apiVersion: 'v1',
    kind: 'Any',
    ...content,
    metadata: { uid: '', resourceVersion: '1', generation: 1, creationTimestamp: '', ...metadata },
  };
}
