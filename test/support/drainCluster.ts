import { randomUUID } from 'node:crypto';

import { drain } from '../../activities/drain.js';
import type { ActivityEnvironment } from '../../activities/environment.js';
import { KillSwitch } from '../../activities/killSwitch.js';
import { Informer } from '../../activities/kubernetes/informer.js';
import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { createKubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { nodeClaimCollection, readNodeClaim } from '../../activities/kubernetes/nodeClaims.js';
import { nodeCollection } from '../../activities/kubernetes/nodes.js';
import { podDisruptionBudgetCollection } from '../../activities/kubernetes/podDisruptionBudgets.js';
import { podCollection } from '../../activities/kubernetes/pods.js';
import {
  doNotDisruptAnnotation,
  managedAnnotation,
  ownerAnnotation,
  workflowAnnotation,
} from '../../karpenter/labels.js';
import { disruption, reservation } from '../../karpenter/replacement.js';
import { createLog } from '../../runtime/log.js';
import type { ClusterAuditEntry } from '../../simulator/cluster/audit.js';
import type { Launch } from '../../workflows/replacementTypes.js';
import type { DrainFailureDetails } from '../../workflows/failures.js';
import type { ReplacementSettings } from '../../workflows/settings.js';
import type { TestCluster } from '../simulator/behaviourHarness.js';
import { createNode, startTestCluster } from '../simulator/behaviourHarness.js';
import type { DrainedNode } from './drainActivity.js';
import { DrainActivity } from './drainActivity.js';
import { eventually } from './eventually.js';
import { firstOffering } from './fakeActivities.js';
import { replacementSettings } from './replacements.js';

const owner = 'temporal-namespace';
const clusterId = 'cluster-of-the-test';
const namespace = 'default';
const nodePool = 'pool';
const killSwitchName = 'driftless';
const userAgent = 'drain-test';
const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' };

export interface NodeShape {
  readonly terminationGracePeriod?: string;
  readonly isEmpty?: true;
  readonly isReady?: false;
  /** Its taint comes later: pods can still be scheduled to it. */
  readonly isUntainted?: true;
}

export interface PodShape {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** The kind of its controller; null: it has none. */
  readonly ownerKind?: string | null;
  readonly phase?: string;
  readonly isReady?: false;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly finalizers?: readonly string[];
}

/** `karpenter.sh/do-not-disrupt: "true"` */
export const protectedPod: PodShape = { annotations: { [doNotDisruptAnnotation]: 'true' } };

/** An in-memory cluster with nodes that are about to be drained; the test is kubelet and controllers. */
export class DrainCluster {
  private constructor(
    readonly cluster: TestCluster,
    private readonly environment: ActivityEnvironment,
    private readonly stopCaches: () => Promise<void>,
  ) {}

  /** @param settings how long things may take; the drain looks every 10 ms */
  static async start(settings: Partial<ReplacementSettings> = {}): Promise<DrainCluster> {
    const cluster = await startTestCluster();
    const options = { retryDelayMs: 10, log: createLog('drain-test', 'error') };
    const nodeClaims = new Informer(cluster.api, nodeClaimCollection, options);
    const nodes = new Informer(cluster.api, nodeCollection, options);
    const pods = new Informer(cluster.api, podCollection, options);
    const podDisruptionBudgets = new Informer(cluster.api, podDisruptionBudgetCollection, options);
    await cluster.send('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: killSwitchName },
    });
    const killSwitch = new KillSwitch(cluster.api, { namespace, name: killSwitchName }, options);
    const caches = [nodeClaims, nodes, pods, podDisruptionBudgets, killSwitch];
    await Promise.all(caches.map(({ synced }) => synced));
    const environment: ActivityEnvironment = {
      clusterId,
      owner,
      kubernetes: createKubernetesApi(cluster.api.kubeConfig, userAgent, {
        checkMayChange: () => {
          killSwitch.check();
        },
      }),
      nodeClaims,
      nodes,
      pods,
      podDisruptionBudgets,
      killSwitch,
      resourceSkus: { list: () => Promise.resolve([]) },
      virtualMachines: { nameOf: () => undefined, get: () => Promise.resolve(undefined) },
      settings: {
        rollout: {
          quietMs: 1,
          childCheckMs: 1,
          lookAgainMs: 1,
          backoffMs: 1,
          backoffMaxMs: 1,
          haltAfterFailures: 1,
        },
        replacement: { ...replacementSettings, waitIntervalMs: 10, ...settings },
        candidates: { expiryLeadMs: 1, justStartedMs: 1, flapMs: 1 },
        maxDisruptedNodes: 1,
        maxLaunchAttempts: 1,
        pollDelayMinMs: 1,
        pollDelayMaxMs: 1,
      },
    };
    await cluster.send('POST', '/apis/karpenter.sh/v1/nodepools', {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: nodePool, annotations: { [managedAnnotation]: 'true' } },
      spec: { template: { spec: { nodeClassRef, requirements: [] } } },
    });
    return new DrainCluster(cluster, environment, async () => {
      await Promise.all(caches.map((cache) => cache.stop()));
    });
  }

  /** The drain's own client: the kill switch stands before it. */
  get api(): KubernetesApi {
    return this.environment.kubernetes;
  }

  /** The owner of the NodePool takes it out of our hands, or gives it back. */
  async setManaged(managed: boolean): Promise<void> {
    await this.cluster.send('PATCH', `/apis/karpenter.sh/v1/nodepools/${nodePool}`, {
      metadata: { annotations: { [managedAnnotation]: String(managed) } },
    });
  }

  /** Turns the kill switch; settles when the drain knows. */
  async setPaused(paused: boolean): Promise<void> {
    const { killSwitch } = this.environment;
    await this.cluster.send('PATCH', `/api/v1/namespaces/${namespace}/configmaps/${killSwitchName}`, {
      data: { paused: String(paused) },
    });
    await eventually(() => {
      if ((killSwitch.pausedWhy !== undefined) !== paused) throw new Error('the kill switch has not turned yet');
    });
  }

  async stop(): Promise<void> {
    await this.stopCaches();
    await this.cluster.close();
  }

  /** A drifted node under our taint, and its Initialized replacement. */
  async node(name: string, shape: NodeShape = {}): Promise<DrainedNode> {
    const workflowId = `replace/${clusterId}/${name}`;
    const uid = await this.#nodeClaim(name, ['Drifted', 'DisruptionReason'], shape.terminationGracePeriod);
    const node = `node-${name}`;
    await createNode(this.cluster, node, {
      taints: shape.isUntainted === true ? [] : [disruption],
      ready: shape.isReady === false ? 'False' : 'True',
    });
    const annotations = { [ownerAnnotation]: owner, [workflowAnnotation]: workflowId };
    await this.cluster.send('PATCH', `/api/v1/nodes/${node}`, { metadata: { annotations } });
    const ref = {
      cluster: clusterId,
      nodePool,
      nodeClaim: name,
      uid,
      node,
      reason: 'Drifted',
      round: 0,
      workflowId,
    };
    return { ref, launch: shape.isEmpty === true ? null : await this.#replacement(`${name}-new`) };
  }

  async #nodeClaim(name: string, trueConditions: readonly string[], terminationGracePeriod?: string): Promise<string> {
    await this.cluster.send('POST', '/apis/karpenter.sh/v1/nodeclaims', {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name },
      spec: { nodeClassRef, requirements: [], terminationGracePeriod },
    });
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    await this.cluster.send('PATCH', `/apis/karpenter.sh/v1/nodeclaims/${name}/status`, {
      status: {
        conditions: trueConditions.map((type) => ({
          type,
          status: 'True',
          reason: type,
          message: '',
          lastTransitionTime,
        })),
      },
    });
    return (await readNodeClaim(this.cluster.api, name))?.metadata.uid ?? '';
  }

  async #replacement(name: string): Promise<Launch> {
    const uid = await this.#nodeClaim(name, ['Initialized']);
    const virtualMachine = `aks-${name}`;
    await createNode(this.cluster, virtualMachine, { taints: [reservation] });
    return { nodeClaim: name, uid, virtualMachine, providerId: '', offering: firstOffering, resumeToken: null };
  }

  /** A running pod on a node; of a ReplicaSet unless the shape says otherwise. Answers its UID. */
  async pod(name: string, node: string, shape: PodShape = {}): Promise<string> {
    const { ownerKind = 'ReplicaSet', labels = { app: name }, annotations, finalizers } = shape;
    const controller = { apiVersion: 'apps/v1', kind: ownerKind, name: 'owner', uid: randomUUID(), controller: true };
    await this.cluster.send('POST', `/api/v1/namespaces/${namespace}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels, annotations, finalizers, ownerReferences: ownerKind === null ? [] : [controller] },
      spec: { nodeName: node, containers: [{ name: 'main', image: 'app:1' }], ...shape.spec },
    });
    const ready = shape.isReady === false ? 'False' : 'True';
    await this.cluster.send('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}/status`, {
      status: {
        phase: shape.phase ?? 'Running',
        // Kubernetes' instants are whole seconds.
        startTime: `${new Date().toISOString().slice(0, 19)}Z`,
        conditions: [{ type: 'Ready', status: ready }],
      },
    });
    const { metadata } = await this.cluster.api.core.readNamespacedPod({ name, namespace });
    return metadata?.uid ?? '';
  }

  async taint({ ref }: DrainedNode): Promise<void> {
    await this.cluster.send('PATCH', `/api/v1/nodes/${ref.node}`, { spec: { taints: [disruption] } });
  }

  /** The kubelet has ended the pod. */
  async end(pod: string): Promise<void> {
    await this.cluster.send('DELETE', `/api/v1/namespaces/${namespace}/pods/${pod}`, { gracePeriodSeconds: 0 });
  }

  /** Ends, as kubelets do, whatever terminates; until the answer is called, which settles when the last has ended. */
  endWhatTerminates(): () => Promise<void> {
    const seen = new Set<string>();
    const ends: Promise<unknown>[] = [];
    const stop = this.cluster.simulator.audit.onAppend(({ resource, object, removed }) => {
      const isGoing = resource === 'pods' && removed !== true && object?.metadata.deletionTimestamp !== undefined;
      if (!isGoing || seen.has(object.metadata.uid)) return;
      seen.add(object.metadata.uid);
      ends.push(this.end(object.metadata.name).catch((error: unknown) => error));
    });
    return async () => {
      stop();
      const failed = (await Promise.all(ends)).find((error) => error instanceof Error);
      if (failed !== undefined) throw failed;
    };
  }

  /** Runs, as kubelets do, whatever is bound to a node; until the answer is called. */
  runWhatIsBound(): () => void {
    return this.cluster.simulator.audit.onAppend(({ verb, resource, name = '' }) => {
      if (verb !== 'bind' || resource !== 'pods') return;
      void this.cluster.send('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}/status`, {
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      });
    });
  }

  /** A PodDisruptionBudget that the test, as its controller, lets allow so many disruptions. */
  async budget(name: string, matchLabels: Readonly<Record<string, string>>, disruptionsAllowed: number): Promise<void> {
    await this.cluster.send('POST', `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name },
      spec: { minAvailable: 1, selector: { matchLabels } },
    });
    await this.allow(name, disruptionsAllowed);
  }

  /** As the disruption controller writes it. */
  async allow(budget: string, disruptionsAllowed: number): Promise<void> {
    await this.cluster.send('PATCH', `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets/${budget}/status`, {
      status: {
        disruptionsAllowed,
        observedGeneration: 1,
        expectedPods: 1,
        currentHealthy: 1 + disruptionsAllowed,
        desiredHealthy: 1,
      },
    });
  }

  /** One attempt, in whatever activity context the caller is. */
  async drain({ ref, launch }: DrainedNode, paused: DrainFailureDetails | null = null): Promise<void> {
    await drain(this.environment, ref, launch, paused);
  }

  /** Begins the activity; its attempts are the test's to make. */
  begin(
    node: DrainedNode,
    settings: Partial<ReplacementSettings> = {},
    paused: DrainFailureDetails | null = null,
  ): DrainActivity {
    const replacement = { ...this.environment.settings.replacement, ...settings };
    const environment = { ...this.environment, settings: { ...this.environment.settings, replacement } };
    return new DrainActivity(environment, node, paused);
  }

  /** `evict <name> <status>` and `delete <name> <grace in seconds>`: what drains have asked for, in order. */
  podRequests(): readonly string[] {
    return this.#entries('pods').flatMap(({ verb, name = '', status, userAgent: from, object }) => {
      if (from !== userAgent) return [];
      if (verb === 'evict') return [`evict ${name} ${status}`];
      return verb === 'delete' ? [`delete ${name} ${object?.metadata.deletionGracePeriodSeconds ?? ''}`] : [];
    });
  }

  /** Those about these pods. */
  requestsAbout(...pods: readonly string[]): readonly string[] {
    return this.podRequests().filter((line) => pods.some((pod) => line.split(' ')[1] === pod));
  }

  /** Events on a NodeClaim: `reason message`. */
  events(nodeClaim: string): readonly string[] {
    return this.#entries('events').flatMap(({ object }) => {
      const involved = object?.['involvedObject'];
      const isIts = typeof involved === 'object' && involved !== null && Reflect.get(involved, 'name') === nodeClaim;
      return isIts ? [`${String(object?.['reason'])} ${String(object?.['message'])}`] : [];
    });
  }

  async podNames(node: string): Promise<readonly string[]> {
    const { items } = await this.cluster.api.core.listPodForAllNamespaces({ fieldSelector: `spec.nodeName=${node}` });
    return items.map(({ metadata }) => metadata?.name ?? '').sort();
  }

  async taints(node: string): Promise<readonly string[]> {
    const { spec } = await this.cluster.api.core.readNode({ name: node });
    return (spec?.taints ?? []).map(({ key }) => key);
  }

  #entries(resource: string): readonly ClusterAuditEntry[] {
    return this.cluster.simulator.audit.entries.filter((entry) => entry.resource === resource);
  }
}
