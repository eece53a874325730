import { KubeConfig } from '@kubernetes/client-node';
import { randomBytes } from 'node:crypto';

import type { ClusterAuditEntry } from '../../simulator/cluster/audit.js';
import type { ClusterSimulator } from '../../simulator/cluster/clusterSimulator.js';
import { startClusterSimulator } from '../../simulator/cluster/clusterSimulator.js';
import type { ListenOptions } from '../../simulator/listenOptions.js';
import { clusterFacts } from '../clusterFacts.js';
import type { DemoCluster } from './demoCluster.js';

/** An API server in this process, with everything behind it simulated. */
export interface InMemoryCluster extends DemoCluster, ClusterSimulator {
  auditEntries(): Promise<readonly ClusterAuditEntry[]>;
  close(): Promise<void>;
}

/** @param listen default: on loopback, any free port */
export async function startInMemoryCluster(listen: ListenOptions = {}): Promise<InMemoryCluster> {
  const token = randomBytes(24).toString('hex');
  const simulator = await startClusterSimulator({ ...listen, token, collectsGarbage: true });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(simulator.kubeConfigYaml());
  return {
    ...simulator,
    kubeConfig,
    // The simulated node lifecycle controller looks at the machines themselves.
    skip: ['nodeLease'],
    auditEntries: () => Promise.resolve(simulator.audit.entries),
    facts: () => Promise.resolve(clusterFacts(simulator.audit.entries)),
  };
}
