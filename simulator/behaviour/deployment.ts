import { createHash } from 'node:crypto';

import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import type { Behaviour, BehaviourContext } from './behaviour.js';
import type { Deployment, ReplicaSet } from './objects.js';
import { controllerOf, isTerminating, namespacedKey } from './objects.js';
import { Reconciler } from './reconciler.js';

const templateHashLabel = 'pod-template-hash';

/** A text for the value that does not depend on the order of keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function templateHash(deployment: Deployment): string {
  return createHash('sha256').update(canonical(deployment.spec.template)).digest('hex').slice(0, 10);
}

function sum(replicaSets: readonly ReplicaSet[], count: (replicaSet: ReplicaSet) => number | undefined): number {
  return replicaSets.reduce((total, replicaSet) => total + (count(replicaSet) ?? 0), 0);
}

/** The deployment controller: one ReplicaSet for each template; the earlier ones end when the present one is ready. */
export class DeploymentController implements Behaviour {
  readonly #reconciler: Reconciler;

  constructor(private readonly context: BehaviourContext) {
    this.#reconciler = new Reconciler((key) => this.#reconcile(key), context.log, context.limit);
    const { deployments, replicaSets } = context.informers;
    deployments.onChange(({ object }) => {
      this.#reconciler.enqueue(namespacedKey(object));
    });
    replicaSets.onChange(({ object }) => {
      const owner = controllerOf(object);
      if (owner?.kind === 'Deployment') this.#reconciler.enqueue(`${object.metadata.namespace}/${owner.name}`);
    });
  }

  start(): void {
    this.#reconciler.start();
  }

  stop(): Promise<void> {
    return this.#reconciler.stop();
  }

  async #reconcile(key: string): Promise<void> {
    const deployment = this.context.informers.deployments.get(key);
    if (deployment === undefined || isTerminating(deployment)) return;
    const owned = this.context.informers.replicaSets
      .list()
      .filter((replicaSet) => controllerOf(replicaSet)?.uid === deployment.metadata.uid);
    const hash = templateHash(deployment);
    const present = owned.find(({ metadata }) => metadata.labels?.[templateHashLabel] === hash);
    if (present === undefined) await this.#create(deployment, hash);
    else await this.#scale(deployment, present, owned);
    await this.#writeStatus(deployment, present, owned);
  }

  async #create({ metadata, spec }: Deployment, hash: string): Promise<void> {
    const { name, namespace, uid } = metadata;
    const { selector, template, replicas } = spec;
    const hashLabel = { [templateHashLabel]: hash };
    const labels = { ...template.metadata?.labels, ...hashLabel };
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name, uid, controller: true, blockOwnerDeletion: true };
    await this.context.api.apps.createNamespacedReplicaSet({
      namespace,
      body: {
        metadata: { name: `${name}-${hash}`, labels, ownerReferences: [owner] },
        spec: {
          replicas,
          selector: { ...selector, matchLabels: { ...selector.matchLabels, ...hashLabel } },
          template: { metadata: { labels, annotations: template.metadata?.annotations }, spec: template.spec },
        },
      },
    });
  }

  async #scale(deployment: Deployment, present: ReplicaSet, owned: readonly ReplicaSet[]): Promise<void> {
    await this.#setReplicas(present, deployment.spec.replicas);
    if ((present.status?.readyReplicas ?? 0) < deployment.spec.replicas) return;
    for (const replicaSet of owned) if (replicaSet !== present) await this.#setReplicas(replicaSet, 0);
  }

  async #setReplicas({ metadata, spec }: ReplicaSet, replicas: number): Promise<void> {
    if (spec.replicas === replicas) return;
    const { name, namespace, resourceVersion } = metadata;
    const body = { metadata: { resourceVersion }, spec: { replicas } };
    await this.context.api.apps.patchNamespacedReplicaSet({ name, namespace, body }, mergePatch);
  }

  async #writeStatus(
    { metadata, status }: Deployment,
    present: ReplicaSet | undefined,
    owned: readonly ReplicaSet[],
  ): Promise<void> {
    const next = {
      observedGeneration: metadata.generation ?? 0,
      replicas: sum(owned, (replicaSet) => replicaSet.status?.replicas),
      updatedReplicas: present?.status?.replicas ?? 0,
      readyReplicas: sum(owned, (replicaSet) => replicaSet.status?.readyReplicas),
      availableReplicas: sum(owned, (replicaSet) => replicaSet.status?.availableReplicas),
    };
    const isWritten =
      status?.observedGeneration === next.observedGeneration &&
      status.replicas === next.replicas &&
      status.updatedReplicas === next.updatedReplicas &&
      status.readyReplicas === next.readyReplicas &&
      status.availableReplicas === next.availableReplicas;
    if (isWritten) return;
    const { name, namespace } = metadata;
    await this.context.api.apps.patchNamespacedDeploymentStatus(
      { name, namespace, body: { status: next } },
      mergePatch,
    );
  }
}
