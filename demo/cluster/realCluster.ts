import type { ClusterAuditEntry } from '../../simulator/cluster/audit.js';
import { clusterFacts } from '../clusterFacts.js';
import { neededCrds } from '../controlPlane/assets.js';
import { readAuditEvents } from '../controlPlane/auditEvents.js';
import { obtainBinaries } from '../controlPlane/binaries.js';
import type { ControlPlane } from '../controlPlane/controlPlane.js';
import { startControlPlane } from '../controlPlane/controlPlane.js';
import { clusterAuditEntries } from './auditEntries.js';
import type { DemoCluster } from './demoCluster.js';

/** A control plane of our own: etcd, kube-apiserver, kube-controller-manager, kube-scheduler. */
export interface RealCluster extends DemoCluster, Pick<ControlPlane, 'access'> {
  /** All that was asked of its API server so far, from that one's own audit log. */
  auditEntries(): Promise<readonly ClusterAuditEntry[]>;
}

/** The node lifecycle's and the pods' garbage collector are simulated: the real ones know nothing of simulated seconds. */
const controllers = ['deployment-controller', 'replicaset-controller', 'disruption-controller'];

/**
 * Starts a control plane of released executables, which are fetched or built where there are none.
 * @param tell told what takes its time
 * @throws UserError when it cannot be had, or does not start
 */
export async function startRealCluster(
  environment: NodeJS.ProcessEnv,
  tell: (text: string) => void,
): Promise<RealCluster> {
  const binaries = await obtainBinaries(environment, tell);
  const crds = await neededCrds(environment);
  const controlPlane = await startControlPlane(binaries, crds, { controllers, withScheduler: true });
  const auditEntries = async (): Promise<readonly ClusterAuditEntry[]> =>
    clusterAuditEntries(await readAuditEvents(controlPlane));
  return {
    access: controlPlane.access,
    kubeConfig: controlPlane.kubeConfig,
    skip: ['nodeLease', 'scheduler', 'deployment', 'replicaSet', 'podDisruptionBudget'],
    auditEntries,
    facts: async () => clusterFacts(await auditEntries()),
    close: () => controlPlane.stop(),
  };
}
