import { mergePatch } from '../../../activities/kubernetes/kubernetesApi.js';
import { createNodeClaim, listNodeClaims, readNodeClaim } from '../../../activities/kubernetes/nodeClaims.js';
import { request } from '../../../activities/kubernetes/request.js';
import { seeRollout } from '../../../client/rollouts.js';
import { untilRolloutRests } from '../../../demo/rollout.js';
import { buildPool, buildScenario, causeDrift, nodePoolName } from '../../../demo/scenario.js';
import { demoWorkerFlags } from '../../../demo/settings.js';
import { until } from '../../../demo/until.js';
import { ownerAnnotation, replacesAnnotation, workflowAnnotation } from '../../../karpenter/labels.js';
import { virtualMachineName } from '../../../karpenter/replacement.js';
import type { AzureFault } from '../../../simulator/azure/faults.js';
import type { ServiceProcess } from '../../../demo/serviceProcess.js';
import { startServiceProcess } from '../../../demo/serviceProcess.js';
import type { DeployedControlPlane } from './deployedControlPlane.js';
import { askEverything } from './operatorCommands.js';
import type { RehearsalStack } from './rehearsalStack.js';
import { startRehearsalStack } from './rehearsalStack.js';
import { createSettledPod } from './settledPods.js';

const speed = 20;
const restTimeoutMs = 120_000;
const readyTimeoutMs = 30_000;
/** Beside the pool of the reported case: nodes whose pods are deleted when their time is up. */
const boundedPool = 'bounded';
const orphanName = 'orphan';
const otherNamespace = 'storage';
const killSwitch = { namespace: 'kube-system', name: 'driftless' };
/** Azure cannot give the first two: one makes the ConfigMap of unavailable offerings, the other puts something else into it. */
const faults: readonly AzureFault[] = [
  {
    on: 'createVirtualMachine',
    then: { kind: 'operationFails', afterSeconds: 5, code: 'AllocationFailed', message: 'no room' },
  },
  {
    on: 'createVirtualMachine',
    after: 1,
    then: { kind: 'requestFails', status: 409, code: 'SkuNotAvailable', message: 'not sold here' },
  },
];
/** At this speed what is older than 3 s counts as left behind. */
const sweepFlags = ['--sweep-interval', '1m', '--sweep-min-age', '1m'];

/**
 * Has worker and watcher, by their ServiceAccounts, and a person do all that they ever do with the cluster: two pools that drift, a kill
 * switch that is on at first, launches that fail, pods in two namespaces with disks, some of which have to be deleted, an orphan, and
 * every command of the person's.
 */
export async function rehearse(controlPlane: DeployedControlPlane, signal: AbortSignal): Promise<void> {
  const stack = await startRehearsalStack(controlPlane, speed, faults);
  const services: ServiceProcess[] = [];
  try {
    const nodeClaims = await buildCluster(stack);
    await turnKillSwitch(stack, 'true');
    const start = async (name: 'worker' | 'watcher', flags: readonly string[]): Promise<void> => {
      const access = await controlPlane.accessAs(`driftless-${name}`);
      const surroundings = stack.surroundingsAs(name, access);
      services.push(await startServiceProcess(surroundings, [name, ...flags], stack.environment, signal));
    };
    await start('worker', [...demoWorkerFlags(speed), ...sweepFlags]);
    await start('watcher', []);
    await causeDrift(stack.api);
    await untilClosedByKillSwitch(stack);
    const { files } = stack.surroundingsAs('operator', controlPlane.operator);
    await askEverything({ ...stack.environment, KUBECONFIG: files.kubeConfig }, nodeClaims);
    await turnKillSwitch(stack, 'false');
    for (const nodePool of [nodePoolName, boundedPool]) {
      const end = await untilRolloutRests(stack.workflows, stack.clusterId, nodePool, restTimeoutMs, signal);
      if (end.kind !== 'completed') throw new Error(`the rollout of ${nodePool} has not ended: ${JSON.stringify(end)}`);
    }
    await until('the orphan is swept away', readyTimeoutMs, async () =>
      (await readNodeClaim(stack.api, orphanName)) === undefined ? true : undefined,
    );
  } finally {
    await Promise.all(services.map((service) => service.kill('SIGTERM')));
    await stack.stop();
  }
}

/** The pools' NodeClaims, by name. */
export type PoolNodeClaims = ReadonlyMap<string, readonly string[]>;

async function buildCluster({ api, machines, owner }: RehearsalStack): Promise<PoolNodeClaims> {
  const common = { budget: '2', seed: 1 };
  await buildScenario(api, machines, { ...common, nodes: 4 });
  const bounded = { nodePool: boundedPool, deployment: 'bounded', terminationGracePeriod: '8s' };
  await buildPool(api, machines, { ...common, ...bounded, nodes: 2 });
  const pools = await Promise.all(
    [nodePoolName, boundedPool].map(async (nodePool) => {
      const nodeClaims = await listNodeClaims(api, nodePool);
      return [nodePool, nodeClaims.map(({ metadata }) => metadata.name)] as const;
    }),
  );
  const nodeClaims = new Map(pools);
  await api.core.createNamespace({ body: { metadata: { name: otherNamespace } } });
  const [first = '', second = ''] = (nodeClaims.get(boundedPool) ?? []).map(virtualMachineName);
  await createSettledPod(api, { namespace: otherNamespace, name: 'movable', node: first, isProtected: false });
  await createSettledPod(api, { namespace: otherNamespace, name: 'kept', node: first, isProtected: true });
  await createSettledPod(api, { namespace: 'default', name: 'kept', node: second, isProtected: true });
  await useOtherNodeClass({ api });
  await createOrphan({ api, owner });
  return nodeClaims;
}

/** From now on the second pool's nodes are to be of a NodeClass of their own. */
async function useOtherNodeClass({ api }: Pick<RehearsalStack, 'api'>): Promise<void> {
  const group = 'karpenter.azure.com';
  const nodeClass = { apiVersion: `${group}/v1beta1`, kind: 'AKSNodeClass', metadata: { name: 'other' } };
  const body = { ...nodeClass, spec: { imageFamily: 'AzureLinux' } };
  await request('create the other AKSNodeClass', () =>
    api.custom.createClusterCustomObject({ group, version: 'v1beta1', plural: 'aksnodeclasses', body }),
  );
  const change = { spec: { template: { spec: { nodeClassRef: { group, kind: 'AKSNodeClass', name: 'other' } } } } };
  const nodePool = { group: 'karpenter.sh', version: 'v1', plural: 'nodepools', name: boundedPool, body: change };
  await request('change the NodePool', () => api.custom.patchClusterCustomObject(nodePool, mergePatch));
}

/** A replacement that carries our mark, and that no workflow looks after. */
async function createOrphan({ api, owner }: Pick<RehearsalStack, 'api' | 'owner'>): Promise<void> {
  const marks = { [ownerAnnotation]: owner, [replacesAnnotation]: 'gone', [workflowAnnotation]: 'replace/gone' };
  await createNodeClaim(api, orphanName, {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: orphanName, annotations: marks },
    spec: { nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' }, requirements: [] },
  });
}

async function turnKillSwitch({ api }: RehearsalStack, paused: 'true' | 'false'): Promise<void> {
  const { namespace, name } = killSwitch;
  await request('turn the kill switch', () =>
    paused === 'true'
      ? api.core.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data: { paused } } })
      : api.core.patchNamespacedConfigMap({ namespace, name, body: { data: { paused } } }, mergePatch),
  );
}

async function untilClosedByKillSwitch({ workflows, clusterId }: RehearsalStack): Promise<void> {
  for (const nodePool of [nodePoolName, boundedPool]) {
    await until(`the kill switch holds the rollout of ${nodePool}`, readyTimeoutMs, async () => {
      const sight = await seeRollout(workflows, clusterId, nodePool);
      const closed = sight.kind === 'running' ? sight.status.admission?.closed : undefined;
      return closed?.includes(killSwitch.name) === true ? true : undefined;
    });
  }
}
