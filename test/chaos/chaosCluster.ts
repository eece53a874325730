import type { DemoCluster } from '../../demo/cluster/demoCluster.js';
import { startInMemoryCluster } from '../../demo/cluster/inMemoryCluster.js';
import { startRealCluster } from '../../demo/cluster/realCluster.js';
import type { Stack } from '../../demo/stack.js';
import type { ClusterAuditEntry } from '../../simulator/cluster/audit.js';
import type { ClusterSimulator } from '../../simulator/cluster/clusterSimulator.js';
import { startFaultProxy } from './faultProxy.js';

export const clusterKinds = ['in-memory', 'real'] as const;
export type ClusterKind = (typeof clusterKinds)[number];

/**
 * A cluster that can be made to fail. Its `audit` is for the moments, as it tells of a request before its client is told; what the
 * invariants are checked by are the entries at the end.
 */
export interface ChaosCluster extends DemoCluster, Pick<ClusterSimulator, 'audit' | 'addFault'> {
  auditEntries(): Promise<readonly ClusterAuditEntry[]>;
}

export type ChaosStack = Stack<ChaosCluster>;

async function startInMemory(): Promise<ChaosCluster> {
  const cluster = await startInMemoryCluster();
  return { ...cluster, auditEntries: () => Promise.resolve(cluster.audit.entries) };
}

/** All clients but the controllers and the scheduler go by way of a proxy that lets requests fail; the witness is the API server. */
async function startReal(tell: (text: string) => void): Promise<ChaosCluster> {
  const cluster = await startRealCluster(process.env, tell);
  try {
    const proxy = await startFaultProxy(cluster.access);
    return {
      ...cluster,
      kubeConfig: proxy.kubeConfig,
      audit: proxy.audit,
      addFault: (fault) => {
        proxy.addFault(fault);
      },
      async auditEntries() {
        const entries = [...(await cluster.auditEntries()), ...proxy.refused];
        return entries.sort((one, other) => one.at - other.at);
      },
      async close() {
        await proxy.close();
        await cluster.close();
      },
    };
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

/** @param tell told what takes its time */
export function startChaosCluster(kind: ClusterKind, tell: (text: string) => void): Promise<ChaosCluster> {
  switch (kind) {
    case 'in-memory':
      return startInMemory();
    case 'real':
      return startReal(tell);
  }
}
