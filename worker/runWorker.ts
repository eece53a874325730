import { loadKubeConfig } from '../activities/kubernetes/kubeConfig.js';
import { loadTemporalSettings } from '../activities/temporal/connection.js';
import type { Log } from '../runtime/log.js';
import { createLog } from '../runtime/log.js';
import { runService } from '../runtime/service.js';
import { createCredential } from './credential.js';
import type { WorkerOptions } from './options.js';
import { activitySettings, armThrottle, sweepSettings, workerTimeouts } from './options.js';
import { installTemporalRuntime } from './temporalRuntime.js';
import type { WorkerConfiguration } from './worker.js';
import { startWorker } from './worker.js';
import { findWorkflowBundle } from './workflowBundle.js';

/** Runs a worker until SIGINT or SIGTERM, or until it fails. */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const log = createLog('driftless-worker', options.logLevel);
  installTemporalRuntime(log);
  await runService(options.healthPort, log, () => startWorker(configurationOf(options, log)));
}

function configurationOf(options: WorkerOptions, log: Log): WorkerConfiguration {
  return {
    kubeConfig: loadKubeConfig(process.env),
    temporal: loadTemporalSettings(),
    arm: {
      endpoint: options.azureEndpoint,
      createCredential: () => createCredential(options.azureTokenFile),
      subscriptionId: options.subscriptionId,
      resourceGroup: options.resourceGroup,
      location: options.location,
      ...(options.azureCa === undefined ? {} : { caPem: options.azureCa }),
    },
    templateSecret: options.vmTemplateSecret,
    killSwitch: options.killSwitch,
    armWritesPerSecond: options.armWritesPerSecond,
    settings: activitySettings(options),
    sweep: sweepSettings(options),
    timeouts: workerTimeouts(options),
    armThrottle: armThrottle(options),
    workflowBundle: findWorkflowBundle(),
    deploymentVersion: options.deploymentVersion,
    log,
  };
}
