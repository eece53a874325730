import { isDeepStrictEqual } from 'node:util';

import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import type { Condition, NodeClaim, NodeClass } from '../../karpenter/api.js';
import { conditionTypes, withCondition } from '../../karpenter/conditions.js';
import type { Behaviour, BehaviourContext } from './behaviour.js';
import { nodeClaimResource, nodeClassResource } from './collections.js';
import { nodeClassStatus } from './nodeClassStatus.js';
import { isTerminating } from './objects.js';
import { Reconciler } from './reconciler.js';
import { statusPatch, timestampNow } from './statusPatch.js';

const nodeClassKind = 'AKSNodeClass';

/** The conditions with the one that says that the claim's image is not its NodeClass's; the same list when nothing changes. */
function withDrift(
  before: readonly Condition[],
  claim: NodeClaim,
  nodeClass: NodeClass,
  at: string,
): readonly Condition[] {
  const imageId = claim.status?.imageID;
  const images = (nodeClass.status?.images ?? []).map(({ id }) => id);
  if (imageId === undefined || images.length === 0) return before;
  if (images.includes(imageId)) {
    const others = before.filter(({ type }) => type !== conditionTypes.drifted);
    return others.length === before.length ? before : others;
  }
  return withCondition(
    before,
    {
      type: conditionTypes.drifted,
      status: 'True',
      reason: 'ImageDrift',
      message: `the NodeClaim runs ${imageId}, ${nodeClassKind} ${nodeClass.metadata.name} asks for ${images.join(', ')}`,
      observedGeneration: claim.metadata.generation,
    },
    at,
  );
}

/**
 * Karpenter's marking of drift: resolves the image of each AKSNodeClass, and says on each NodeClaim whether it runs another one. All
 * claims of a class are looked at when it changes.
 */
export class Drift implements Behaviour {
  readonly #classes: Reconciler;
  readonly #claims: Reconciler;

  constructor(private readonly context: BehaviourContext) {
    this.#classes = new Reconciler((name) => this.#resolveImage(name), context.log, context.limit);
    this.#claims = new Reconciler((name) => this.#markDrift(name), context.log, context.limit);
    const { nodeClaims, nodeClasses } = context.informers;
    nodeClasses.onChange(({ object }) => {
      this.#classes.enqueue(object.metadata.name);
      this.#enqueueClaimsOf(object.metadata.name);
    });
    nodeClaims.onChange(({ object }) => {
      this.#claims.enqueue(object.metadata.name);
    });
  }

  start(): void {
    this.#classes.start();
    this.#claims.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#classes.stop(), this.#claims.stop()]);
  }

  #enqueueClaimsOf(nodeClassName: string): void {
    for (const { metadata, spec } of this.context.informers.nodeClaims.list()) {
      if (spec.nodeClassRef.name === nodeClassName) this.#claims.enqueue(metadata.name);
    }
  }

  async #resolveImage(name: string): Promise<void> {
    const nodeClass = this.context.informers.nodeClasses.get(name);
    if (nodeClass === undefined || isTerminating(nodeClass)) return;
    const status = nodeClassStatus(nodeClass, timestampNow());
    const { images = [], conditions = [] } = nodeClass.status ?? {};
    if (isDeepStrictEqual(status, { images, conditions })) return;
    await this.context.api.custom.patchClusterCustomObjectStatus(
      { ...nodeClassResource, name, body: statusPatch(nodeClass, status) },
      mergePatch,
    );
  }

  async #markDrift(name: string): Promise<void> {
    const claim = this.context.informers.nodeClaims.get(name);
    if (claim === undefined || isTerminating(claim) || claim.spec.nodeClassRef.kind !== nodeClassKind) return;
    const nodeClass = this.context.informers.nodeClasses.get(claim.spec.nodeClassRef.name);
    if (nodeClass === undefined) return;
    const before = claim.status?.conditions ?? [];
    const conditions = withDrift(before, claim, nodeClass, timestampNow());
    if (conditions === before) return;
    await this.context.api.custom.patchClusterCustomObjectStatus(
      { ...nodeClaimResource, name, body: statusPatch(claim, { conditions }) },
      mergePatch,
    );
  }
}
