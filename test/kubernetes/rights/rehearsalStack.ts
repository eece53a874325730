import { WorkflowClient } from '@temporalio/client';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { checkNamespace, connectToTemporal } from '../../../activities/temporal/connection.js';
import { clusterAuditEntries } from '../../../demo/cluster/auditEntries.js';
import type { DemoCluster } from '../../../demo/cluster/demoCluster.js';
import { clusterFacts } from '../../../demo/clusterFacts.js';
import type { Access } from '../../../demo/controlPlane/access.js';
import { readAuditEvents } from '../../../demo/controlPlane/auditEvents.js';
import { demoSettings } from '../../../demo/settings.js';
import type { Stack } from '../../../demo/stack.js';
import { startStackOn } from '../../../demo/stack.js';
import { findTemporalCli } from '../../../demo/temporalCli.js';
import type { TemporalServer } from '../../../demo/temporalServer.js';
import { startTemporalServer } from '../../../demo/temporalServer.js';
import { createLog } from '../../../runtime/log.js';
import type { AzureFault } from '../../../simulator/azure/faults.js';
import type { ClusterAuditEntry } from '../../../simulator/cluster/audit.js';
import { kubeConfigYaml } from '../../../simulator/cluster/kubeConfigYaml.js';
import type { Surroundings } from '../../../demo/serviceProcess.js';
import type { DeployedControlPlane } from './deployedControlPlane.js';

/** What is around the services: a cluster on a real API server, Azure, Temporal. */
export interface RehearsalStack extends Pick<Stack<DemoCluster>, 'api' | 'clusterId' | 'machines'> {
  readonly workflows: WorkflowClient;
  /** Our mark: the id of the Temporal namespace. */
  readonly owner: string;
  /** For a process that is somebody at the API server. */
  surroundingsAs(name: string, access: Access): Surroundings;
  /** For any process. */
  readonly environment: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

const durations = { vmCreateMs: 10_000, nodeBootMs: 8_000, podTerminationMs: 2_000, vmDeleteMs: 5_000 };

/** All of its controllers are simulated: what they do is not what is tested here. */
function clusterOn(controlPlane: DeployedControlPlane): DemoCluster {
  const auditEntries = async (): Promise<readonly ClusterAuditEntry[]> =>
    clusterAuditEntries(await readAuditEvents(controlPlane));
  return {
    kubeConfig: controlPlane.kubeConfig,
    skip: ['nodeLease'],
    auditEntries,
    facts: async () => clusterFacts(await auditEntries()),
    // It is not the stack's.
    close: () => Promise.resolve(),
  };
}

/** Starts it; what was started before a failure is stopped again. */
export async function startRehearsalStack(
  controlPlane: DeployedControlPlane,
  speed: number,
  faults: readonly AzureFault[],
): Promise<RehearsalStack> {
  const cleanUps: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (let cleanUp = cleanUps.pop(); cleanUp !== undefined; cleanUp = cleanUps.pop()) await cleanUp();
  };
  try {
    const folder = mkdtempSync(join(tmpdir(), 'driftless-rights-'));
    cleanUps.push(() => {
      rmSync(folder, { recursive: true, force: true });
      return Promise.resolve();
    });
    const { settings: temporal, workflows, owner } = await startTemporal(cleanUps);
    const stack = await startStackOn(clusterOn(controlPlane), {
      temporal,
      speed,
      durations,
      settings: demoSettings(speed),
      faults,
      workflowBundle: '',
      withWorker: false,
      withWatcher: false,
      log: createLog('rights', 'error'),
    });
    cleanUps.push(() => stack.stop());
    const { api, azure, clusterId, machines } = stack;
    return {
      api,
      clusterId,
      machines,
      workflows,
      owner,
      surroundingsAs(name, access) {
        const kubeConfig = join(folder, `${name}.kubeconfig`);
        writeFileSync(kubeConfig, kubeConfigYaml(access), { mode: 0o600 });
        return { azure, files: { ...stack.files, kubeConfig } };
      },
      environment: { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: temporal.namespace },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startTemporal(
  cleanUps: (() => Promise<void>)[],
): Promise<Pick<RehearsalStack, 'workflows' | 'owner'> & Pick<TemporalServer, 'settings'>> {
  const cli = await findTemporalCli(process.env, (text) => {
    process.stderr.write(`${text}\n`);
  });
  const server = await startTemporalServer(cli);
  cleanUps.push(() => server.stop());
  const { settings } = server;
  const connection = await connectToTemporal(settings);
  cleanUps.push(() => connection.close());
  const owner = await checkNamespace(connection, settings.namespace);
  return { settings, owner, workflows: new WorkflowClient({ connection, namespace: settings.namespace }) };
}
