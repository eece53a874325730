import type { KillSwitch } from '../../activities/killSwitch.js';
import type { Informer } from '../../activities/kubernetes/informer.js';
import type { Node, NodeClaim, NodeClass, NodePool, Pod, PodDisruptionBudget } from '../../karpenter/api.js';
import { conditionTypes, isTrue } from '../../karpenter/conditions.js';
import { disruptingWorkflow } from '../../karpenter/disruptionMark.js';
import { disruptionOf, expiryDueMs } from '../../karpenter/disruptionReason.js';
import type { ExpiryRule } from '../../karpenter/disruptionReason.js';
import { initializedLabel, nodePoolLabel, replacementTaint, workflowAnnotation } from '../../karpenter/labels.js';
import { isManaged } from '../../karpenter/pool.js';
import { hasTaint } from '../../karpenter/taints.js';
import { Alarm } from './alarm.js';
import {
  isInTheWay,
  nodeClaimDigest,
  nodeClassDigest,
  nodeDigest,
  nodePoolDigest,
  podDigest,
  podDisruptionBudgetDigest,
} from './digests.js';

/** What is read of a collection: an informer's copy and its changes. */
export type Source<T> = Pick<Informer<T>, 'get' | 'list' | 'onChange'>;

/** Everything that a rollout's answer depends on. */
export interface Sources {
  readonly nodePools: Source<NodePool>;
  readonly nodeClasses: Source<NodeClass>;
  readonly nodeClaims: Source<NodeClaim>;
  readonly nodes: Source<Node>;
  readonly pods: Source<Pod>;
  readonly podDisruptionBudgets: Source<PodDisruptionBudget>;
  readonly killSwitch: Pick<KillSwitch, 'onChange'>;
}

/** When a pool is poked without an event. */
export interface WatchRule extends ExpiryRule {
  /** So often every pool that has a disrupted NodeClaim: its rollout may have been terminated, or may have failed. Milliseconds. */
  readonly resyncMs: number;
}

/**
 * Calls `poke` with the name of a managed NodePool whenever something has changed on which its rollout could decide, or the time of a
 * node has come: at once for every pool that has a disrupted NodeClaim when the watch begins.
 * @returns how to stop that
 */
export function watchPools(sources: Sources, rule: WatchRule, poke: (nodePool: string) => void): () => void {
  const { nodePools, nodeClasses, nodeClaims, nodes, pods, podDisruptionBudgets, killSwitch } = sources;

  const pokeIfManaged = (name: string | undefined): void => {
    const nodePool = name === undefined ? undefined : nodePools.get(name);
    if (nodePool !== undefined && isManaged(nodePool)) poke(nodePool.metadata.name);
  };
  const isDisrupted = (nodeClaim: NodeClaim): boolean => {
    const nodePool = nodePools.get(poolOf(nodeClaim) ?? '');
    return nodePool !== undefined && disruptionOf(nodePool, nodeClaim, rule, Date.now()) !== undefined;
  };
  /** Of all pools, or of one, those that have something to do. */
  const pokeDisrupted = (name?: string): void => {
    const disrupted = nodeClaims
      .list()
      .filter((nodeClaim) => (name === undefined || poolOf(nodeClaim) === name) && isDisrupted(nodeClaim));
    for (const pool of new Set(disrupted.map(poolOf))) pokeIfManaged(pool);
  };

  const alarm = new Alarm((name) => {
    const nodeClaim = nodeClaims.get(name);
    if (nodeClaim !== undefined) pokeIfManaged(poolOf(nodeClaim));
  });
  const takeIn = (nodeClaim: NodeClaim): void => {
    alarm.set(nodeClaim.metadata.name, expiryDueMs(nodeClaim, rule));
    if (isDisrupted(nodeClaim)) pokeIfManaged(poolOf(nodeClaim));
  };
  for (const nodeClaim of nodeClaims.list()) takeIn(nodeClaim);

  const stops = [
    nodeClaims.onChange((event) => {
      const { object } = event;
      if (event.type === 'deleted') {
        alarm.delete(object.metadata.name);
        if (isDisrupted(object) && !isFinishedByUs(object)) pokeIfManaged(poolOf(object));
        return;
      }
      if (event.previous === undefined) {
        takeIn(object);
        return;
      }
      const nodePool = nodePools.get(poolOf(object) ?? '');
      if (nodePool === undefined) return;
      const now = Date.now();
      const isSame =
        nodeClaimDigest(nodePool, object, rule, now) === nodeClaimDigest(nodePool, event.previous, rule, now);
      if (!isSame) pokeIfManaged(poolOf(object));
    }),
    onDigestChange(nodePools, nodePoolDigest, (nodePool) => {
      const { name } = nodePool.metadata;
      if (nodePools.get(name) !== undefined) pokeDisrupted(name);
      // A rollout that waits for its budgets would wait for ever.
      else if (isManaged(nodePool)) poke(name);
    }),
    onDigestChange(nodeClasses, nodeClassDigest, (nodeClass) => {
      for (const nodePool of nodePools.list()) {
        if (nodePool.spec.template.spec.nodeClassRef.name === nodeClass.metadata.name)
          pokeDisrupted(nodePool.metadata.name);
      }
    }),
    onDigestChange(
      nodes,
      nodeDigest,
      (node) => {
        const name = node.metadata.labels?.[nodePoolLabel];
        if (name !== undefined && !isInOurHands(node)) pokeDisrupted(name);
      },
      isInitializedNode,
    ),
    onDigestChange(
      pods,
      podDigest,
      (pod) => {
        const node = nodes.get(pod.spec.nodeName ?? pod.status?.nominatedNodeName ?? '');
        const name = node?.metadata.labels?.[nodePoolLabel];
        if (name !== undefined) pokeDisrupted(name);
      },
      isInTheWay,
    ),
    killSwitch.onChange(() => {
      pokeDisrupted();
    }),
    onDigestChange(podDisruptionBudgets, podDisruptionBudgetDigest, () => {
      pokeDisrupted();
    }),
  ];
  const resync = setInterval(pokeDisrupted, rule.resyncMs);
  return () => {
    clearInterval(resync);
    for (const stop of stops) stop();
    alarm.stop();
  };
}

function poolOf({ metadata }: NodeClaim): string | undefined {
  return metadata.labels?.[nodePoolLabel];
}

/** Its permit came back with InstanceTerminating, and its replacement tells when the rest is done. */
function isFinishedByUs(nodeClaim: NodeClaim): boolean {
  return disruptingWorkflow(nodeClaim) !== undefined && isTrue(nodeClaim, conditionTypes.instanceTerminating);
}

/** What happens to a node that is being replaced, or to its replacement until pods may come, the workflow in charge tells. */
function isInOurHands(node: Node): boolean {
  return hasTaint(node, replacementTaint) || node.metadata.annotations?.[workflowAnnotation] !== undefined;
}

/** A node that comes or goes before its time has never counted. */
function isInitializedNode({ metadata }: Node): boolean {
  return metadata.labels?.[initializedLabel] === 'true';
}

/** @param counts whether an object that comes or goes is a change at all */
function onDigestChange<T>(
  source: Source<T>,
  digest: (object: T) => string,
  changed: (object: T) => void,
  counts: (object: T) => boolean = () => true,
): () => void {
  return source.onChange((event) => {
    const isUpdate = event.type === 'set' && event.previous !== undefined;
    const isChange = isUpdate ? digest(event.object) !== digest(event.previous) : counts(event.object);
    if (isChange) changed(event.object);
  });
}
