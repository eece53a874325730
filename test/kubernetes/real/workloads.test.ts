import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { eventually } from '../../support/eventually.js';
import type { ConformanceServer } from '../conformance/conformanceServer.js';
import { startConformanceServer } from '../conformance/conformanceServer.js';
import type { ChildServer } from '../../../demo/controlPlane/childProcess.js';
import { startControllers, startScheduler } from '../../../demo/controlPlane/controllers.js';
import { controlPlaneIn } from '../server/controlPlaneVariable.js';

const controllers = ['deployment-controller', 'replicaset-controller', 'disruption-controller'];

let server: ConformanceServer;
let started: ChildServer[];

beforeAll(async () => {
  started = [];
  const controlPlane = controlPlaneIn(process.env);
  if (controlPlane === undefined) throw new Error('no control plane: these tests run by npm run test:kubernetes');
  server = await startConformanceServer();
  const { binaries, kubeConfigPath } = controlPlane;
  started.push(await startControllers(binaries, kubeConfigPath, controllers));
  started.push(await startScheduler(binaries, kubeConfigPath));
});

afterAll(async () => {
  for (const each of started) await each.stop();
  await server.close();
});

const mergePatch = { 'Content-Type': 'application/merge-patch+json' };

/** A Node as the node lifecycle controller leaves it when its kubelet is Ready. */
async function createNode(name: string): Promise<void> {
  const allocatable = { cpu: '4', memory: '16Gi', pods: '110' };
  const conditions = [{ type: 'Ready', status: 'True' }];
  const status = { capacity: allocatable, allocatable, conditions };
  await server.send('POST', '/api/v1/nodes', { metadata: { name, labels: { pool: server.own } }, status });
  await server.send('PATCH', `/api/v1/nodes/${name}`, { spec: { taints: null } }, mergePatch);
}

describe('the real controllers', () => {
  it('make the pods of a Deployment, place them off a tainted node, and count them for their budget', async () => {
    const [old, fresh] = [`${server.own}-old`, `${server.own}-fresh`];
    await createNode(old);
    await createNode(fresh);
    const taints = [{ key: 'driftless.dev/disrupted', effect: 'NoSchedule' }];
    await server.send('PATCH', `/api/v1/nodes/${old}`, { spec: { taints } }, mergePatch);

    const namespace = server.own;
    const matchLabels = { app: 'web' };
    const budget = { metadata: { name: 'web' }, spec: { selector: { matchLabels }, maxUnavailable: 1 } };
    await server.send('POST', `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`, budget);
    const podSpec = { nodeSelector: { pool: namespace }, containers: [{ name: 'main', image: 'app:1' }] };
    const template = { metadata: { labels: matchLabels }, spec: podSpec };
    const spec = { replicas: 2, selector: { matchLabels }, template };
    await server.send('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, { metadata: { name: 'web' }, spec });

    const names = await eventually(async () => {
      const { items } = await server.api.core.listNamespacedPod({ namespace });
      expect(items.map((pod) => pod.spec?.nodeName)).toEqual([fresh, fresh]);
      return items.map((pod) => pod.metadata?.name ?? '');
    });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    for (const name of names) {
      await server.send('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}/status`, { status }, mergePatch);
    }
    await eventually(async () => {
      const { status: counted } = await server.api.policy.readNamespacedPodDisruptionBudget({ name: 'web', namespace });
      expect(counted).toMatchObject({ currentHealthy: 2, desiredHealthy: 1, disruptionsAllowed: 1 });
    });

    const evict = (name = '') =>
      server.send('POST', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, { metadata: { name } });
    expect((await evict(names[0])).code).toBe(201);
    expect((await evict(names[1])).code).toBe(429);
  });
});
