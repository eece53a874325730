import type { AuditLog } from '../auditLog.js';
import { auditNow } from '../auditLog.js';
import type { ClusterAuditEntry } from './audit.js';
import type { Change } from './change.js';
import type { DeleteOptions } from './deleteObject.js';
import { deleteObject } from './deleteObject.js';
import type { KubernetesObject } from './objects.js';
import type { ObjectStore } from './objectStore.js';
import type { OwnerReference } from './ownership.js';
import { foregroundFinalizer, orphanFinalizer, ownersOf } from './ownership.js';
import type { ResourceType } from './resources.js';
import { apiVersionOf, resourceTypes } from './resources.js';
import { updateMetadata } from './updateObject.js';

interface Known {
  readonly type: ResourceType;
  readonly object: KubernetesObject;
}

type OwnerState = 'there' | 'waiting' | 'gone';

function isBeingDeletedWith(finalizer: string, { metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer);
}

/**
 * The garbage collector of kube-controller-manager: objects go after their last owner, or before it when it is deleted in the foreground.
 * It works after the writes that concern it, never within them, and its deletions stand in the audit log.
 */
export class GarbageCollector {
  readonly #known = new Map<string, Known>();
  readonly #dependents = new Map<string, Set<string>>();
  readonly #queue = new Set<string>();

  constructor(
    private readonly store: ObjectStore,
    private readonly audit: AuditLog<ClusterAuditEntry>,
  ) {}

  /** Follows the changes from now on: the store must still be without owners. */
  start(): void {
    this.store.onChange((change) => {
      this.#note(change);
    });
  }

  #note({ type, before, after }: Change): void {
    const uid = (after ?? before)?.object.metadata.uid;
    if (uid === undefined) return;
    const ownersBefore = before === undefined ? [] : ownersOf(before.object);
    const ownersAfter = after === undefined ? [] : ownersOf(after.object);
    for (const owner of ownersBefore) this.#dependents.get(owner.uid)?.delete(uid);
    for (const owner of ownersAfter) this.#dependentsOf(owner.uid).add(uid);
    if (after === undefined) {
      this.#known.delete(uid);
      for (const dependent of this.#dependents.get(uid) ?? []) this.#enqueue(dependent);
      this.#dependents.delete(uid);
    } else {
      this.#known.set(uid, { type, object: after.object });
      if (ownersAfter.length > 0 || after.object.metadata.deletionTimestamp !== undefined) this.#enqueue(uid);
    }
    // An owner that is deleted in the foreground waits for what it owned.
    for (const owner of ownersBefore) this.#enqueue(owner.uid);
  }

  #dependentsOf(uid: string): Set<string> {
    const known = this.#dependents.get(uid) ?? new Set();
    this.#dependents.set(uid, known);
    return known;
  }

  #enqueue(uid: string): void {
    if (this.#queue.size === 0) {
      setImmediate(() => {
        this.#work();
      });
    }
    this.#queue.add(uid);
  }

  #work(): void {
    const uids = [...this.#queue];
    this.#queue.clear();
    for (const uid of uids) {
      const known = this.#known.get(uid);
      if (known !== undefined) this.#attempt(known);
    }
  }

  #attempt(known: Known): void {
    if (isBeingDeletedWith(orphanFinalizer, known.object)) {
      this.#orphanDependents(known);
      return;
    }
    if (isBeingDeletedWith(foregroundFinalizer, known.object)) {
      this.#deleteDependents(known);
      return;
    }
    if (known.object.metadata.deletionTimestamp === undefined) this.#checkOwners(known);
  }

  #knownDependents(uid: string): readonly Known[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((each) => this.#known.get(each) ?? []);
  }

  #orphanDependents({ type, object }: Known): void {
    for (const dependent of this.#knownDependents(object.metadata.uid)) {
      this.#dropReferences(dependent, [object.metadata.uid]);
    }
    this.#dropFinalizer({ type, object }, orphanFinalizer);
  }

  #deleteDependents({ type, object }: Known): void {
    const { uid } = object.metadata;
    const dependents = this.#knownDependents(uid);
    for (const dependent of dependents) {
      if (dependent.object.metadata.deletionTimestamp === undefined) this.#checkOwners(dependent);
    }
    const blocks = (owner: OwnerReference): boolean => owner.uid === uid && owner.blockOwnerDeletion === true;
    const isBlocked = this.#knownDependents(uid).some((dependent) => ownersOf(dependent.object).some(blocks));
    if (!isBlocked) this.#dropFinalizer({ type, object }, foregroundFinalizer);
  }

  #stateOf(owner: OwnerReference, { metadata: { namespace } }: KubernetesObject): OwnerState {
    const type = resourceTypes.find((each) => apiVersionOf(each) === owner.apiVersion && each.kind === owner.kind);
    // Of what it does not know, the real one does not say that it is gone either.
    if (type === undefined) return 'there';
    const object = this.store.get(type, type.namespaced ? namespace : undefined, owner.name);
    if (object?.metadata.uid !== owner.uid) return 'gone';
    return isBeingDeletedWith(foregroundFinalizer, object) ? 'waiting' : 'there';
  }

  #checkOwners(known: Known): void {
    const { object } = known;
    const owners = ownersOf(object).map((owner) => ({ owner, state: this.#stateOf(owner, object) }));
    if (owners.length === 0) return;
    const left = owners.filter(({ state }) => state !== 'there');
    if (left.length === 0) return;
    if (left.length < owners.length) {
      this.#dropReferences(
        known,
        left.map(({ owner }) => owner.uid),
      );
      return;
    }
    const isInForeground =
      left.some(({ state }) => state === 'waiting') && this.#knownDependents(object.metadata.uid).length > 0;
    this.#delete(known, {
      propagationPolicy: isInForeground ? 'Foreground' : undefined,
      preconditions: { uid: object.metadata.uid },
    });
  }

  #delete({ type, object }: Known, options: DeleteOptions): void {
    const written = deleteObject(this.store, type, object, options);
    const { namespace, name } = object.metadata;
    this.audit.append({
      at: auditNow(),
      userAgent: 'garbage-collector',
      verb: 'delete',
      group: type.group,
      resource: type.plural,
      ...(namespace === undefined ? {} : { namespace }),
      name,
      status: 200,
      object: written.object,
      ...(written.removed ? { removed: true } : {}),
      latencyMs: 0,
    });
  }

  #dropReferences({ type, object }: Known, ownerUids: readonly string[]): void {
    const kept = (object.metadata.ownerReferences ?? []).filter(({ uid }) => !ownerUids.includes(uid));
    updateMetadata(this.store, type, object, { ownerReferences: kept });
  }

  #dropFinalizer({ type, object }: Known, finalizer: string): void {
    const kept = (object.metadata.finalizers ?? []).filter((each) => each !== finalizer);
    updateMetadata(this.store, type, object, { finalizers: kept });
  }
}
