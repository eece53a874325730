import { z } from 'zod';

import type { ClusterAuditEntry, ClusterVerb } from '../../simulator/cluster/audit.js';
import type { KubernetesObject } from '../../simulator/cluster/objects.js';
import { textAt, timestampAt } from '../../simulator/cluster/objects.js';
import type { AuditEvent } from '../controlPlane/auditEvents.js';
import { inOrderOfRevision, revisionOf } from './revisionOrder.js';

const objectSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    uid: z.string(),
    resourceVersion: z.string(),
    creationTimestamp: z.string(),
    deletionTimestamp: z.string().optional(),
    deletionGracePeriodSeconds: z.number().optional(),
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
    finalizers: z.array(z.string()).optional(),
    ownerReferences: z.array(z.looseObject({ uid: z.string() })).optional(),
  }),
});

const verbs: Readonly<Record<string, ClusterVerb>> = {
  get: 'get',
  list: 'list',
  watch: 'watch',
  create: 'create',
  update: 'update',
  patch: 'patch',
  delete: 'delete',
};
const createVerbs: Readonly<Record<string, ClusterVerb>> = { eviction: 'evict', binding: 'bind' };

/** Whose objects the log holds. */
const judgedResources: readonly string[] = ['nodeclaims', 'nodes', 'pods'];

/** One request that has been answered. */
interface Answer {
  readonly at: number;
  readonly revision: number | undefined;
  readonly event: AuditEvent;
  readonly verb: ClusterVerb;
  readonly target: NonNullable<AuditEvent['objectRef']>;
  readonly status: number;
  /** The object that the request was answered with: not so for evictions, bindings, and where nothing was left. */
  readonly object: KubernetesObject | undefined;
}

/**
 * Undefined for what is no request that named a resource, or not yet its end. A watch is noted when it starts.
 * @throws Error for a collection that was deleted: the log does not tell what was in it
 */
function readAnswer(event: AuditEvent): Answer | undefined {
  const { objectRef: target, stage, stageTimestamp, responseStatus, responseObject } = event;
  if (target === undefined) return undefined;
  const status = responseStatus?.code ?? 0;
  const isStarted = event.verb === 'watch' && status < 400;
  if (stage === 'RequestReceived' || (stage === 'ResponseStarted') !== isStarted) return undefined;
  if (event.verb === 'deletecollection' && judgedResources.includes(target.resource) && status < 300)
    throw new Error(`${event.userAgent} has deleted a collection of ${target.resource}`);
  const verb = event.verb === 'create' ? (createVerbs[target.subresource ?? ''] ?? 'create') : verbs[event.verb];
  if (verb === undefined) return undefined;
  const hasObject = status < 300 && responseObject !== undefined && textAt(responseObject, 'kind') !== 'Status';
  const object = hasObject ? objectSchema.parse(responseObject) : undefined;
  const revision = object === undefined ? undefined : revisionOf(object);
  return { at: stageTimestamp, revision, event, verb, target, status, object };
}

/** What keeps an object that is being deleted: a finalizer, or the grace period of a pod. */
function isHeld({ metadata }: KubernetesObject): boolean {
  return (metadata.finalizers ?? []).length > 0 || (metadata.deletionGracePeriodSeconds ?? 0) > 0;
}

function withDeletion(pod: KubernetesObject, atMs: number): KubernetesObject {
  const { deletionTimestamp = timestampAt(atMs) } = pod.metadata;
  return { ...pod, metadata: { ...pod.metadata, deletionTimestamp } };
}

function withNode(pod: KubernetesObject, nodeName: string): KubernetesObject {
  const spec = typeof pod['spec'] === 'object' ? pod['spec'] : {};
  return { ...pod, spec: { ...spec, nodeName } };
}

/** All objects that the log tells of, as they are after each of its entries. */
class KnownObjects {
  readonly #objects = new Map<string, KubernetesObject>();

  /** What a write has left, or taken away. */
  leftBy(answer: Answer): Pick<ClusterAuditEntry, 'object' | 'removed'> {
    const key = this.#keyOf(answer);
    const object = this.#objectAfter(answer, this.#objects.get(key));
    if (object === undefined) return {};
    if (this.#isRemoved(answer, object)) {
      this.#objects.delete(key);
      return { object, removed: true };
    }
    this.#objects.set(key, object);
    return { object };
  }

  #keyOf({ target, object }: Answer): string {
    return `${target.resource}/${target.namespace ?? ''}/${target.name ?? object?.metadata.name ?? ''}`;
  }

  #objectAfter({ verb, status, at, event, object }: Answer, before: KubernetesObject | undefined) {
    if (status < 200 || status >= 300) return undefined;
    switch (verb) {
      case 'get':
      case 'list':
      case 'watch':
        return undefined;
      case 'create':
      case 'update':
      case 'patch':
        return object;
      // Answered with a Status when the object is gone.
      case 'delete':
        return object ?? before;
      case 'evict':
        return before === undefined ? undefined : withDeletion(before, at);
      case 'bind':
        return before === undefined ? undefined : withNode(before, textAt(event.requestObject, 'target', 'name'));
    }
  }

  #isRemoved({ verb, object: answered }: Answer, object: KubernetesObject): boolean {
    if (verb === 'delete') return answered === undefined || !isHeld(answered);
    // A pod that no kubelet has to end is gone at once.
    if (verb === 'evict') return textAt(object, 'spec', 'nodeName') === '';
    return object.metadata.deletionTimestamp !== undefined && !isHeld(object);
  }
}

/** A kube-apiserver's audit log as the in-memory API server would have written it, in the order of the writes. */
export function clusterAuditEntries(events: readonly AuditEvent[]): ClusterAuditEntry[] {
  const answers = events.map(readAnswer).filter((answer) => answer !== undefined);
  const objects = new KnownObjects();
  return inOrderOfRevision(answers).map((answer) => {
    const { at, event, verb, target, status, object } = answer;
    const { apiGroup: group, resource, subresource, namespace } = target;
    const name = target.name ?? object?.metadata.name;
    return {
      at,
      userAgent: event.userAgent,
      verb,
      group,
      resource,
      ...(subresource === undefined ? {} : { subresource }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
      status,
      ...objects.leftBy(answer),
      latencyMs: at - event.requestReceivedTimestamp,
    };
  });
}
