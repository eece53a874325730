import { Change } from './change.js';
import { requiredField } from './fieldSelector.js';
import type { KubernetesObject } from './objects.js';
import { deepFreeze, textAt } from './objects.js';
import type { ResourceType } from './resources.js';
import { podsType } from './resources.js';
import type { Selection } from './selection.js';
import { isSelected } from './selection.js';
import { StoredObject } from './storedObject.js';

function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** What puts the objects of one resource into their order. */
export function keyOfObject({ object }: StoredObject): string {
  return keyOf(object.metadata.namespace, object.metadata.name);
}

/** The objects of one resource, in the order of their keys when listed. */
class Collection {
  readonly #objects = new Map<string, StoredObject>();
  #sortedKeys: readonly string[] | undefined;

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key);
  }

  set(key: string, stored: StoredObject): void {
    if (!this.#objects.has(key)) this.#sortedKeys = undefined;
    this.#objects.set(key, stored);
  }

  delete(key: string): void {
    this.#objects.delete(key);
    this.#sortedKeys = undefined;
  }

  list(): readonly StoredObject[] {
    this.#sortedKeys ??= [...this.#objects.keys()].sort();
    return this.#sortedKeys.flatMap((key) => this.#objects.get(key) ?? []);
  }
}

/**
 * All objects, one revision counter for all of them, and the recent changes. Objects are frozen when they come in and never change:
 * each write replaces one.
 */
export class ObjectStore {
  readonly #collections = new Map<ResourceType, Collection>();
  readonly #podsByNode = new Map<string, Collection>();
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #historyLimit: number;
  #history: Change[] = [];
  #revision = 1;
  #compactedAt = 1;

  /** @param historyLimit how many changes are kept for watches that resume */
  constructor(historyLimit: number) {
    this.#historyLimit = historyLimit;
  }

  /** The resourceVersion of the last write. */
  get revision(): number {
    return this.#revision;
  }

  /** The lowest resourceVersion from which a watch can go on without a gap. */
  get oldestResumable(): number {
    return this.#history.at(-this.#historyLimit - 1)?.revision ?? this.#compactedAt;
  }

  get(type: ResourceType, namespace: string | undefined, name: string): KubernetesObject | undefined {
    return this.getStored(type, namespace, name)?.object;
  }

  getStored(type: ResourceType, namespace: string | undefined, name: string): StoredObject | undefined {
    return this.#collections.get(type)?.get(keyOf(namespace, name));
  }

  list(selection: Selection): readonly StoredObject[] {
    const node = selection.type === podsType ? requiredField(selection.fields, 'spec.nodeName') : undefined;
    const collection = node === undefined ? this.#collections.get(selection.type) : this.#podsByNode.get(node);
    return collection?.list().filter((stored) => isSelected(selection, stored.object)) ?? [];
  }

  /** The objects as they were at a revision, which must be resumable. */
  listAt(selection: Selection, revision: number): readonly StoredObject[] {
    const undone = this.changesSince(selection.type, revision).toReversed();
    if (undone.length === 0) return this.list(selection);
    const past = new Map(
      this.#collections
        .get(selection.type)
        ?.list()
        .map((stored) => [keyOfObject(stored), stored]),
    );
    for (const { before, after } of undone) {
      const changed = before ?? after;
      if (changed === undefined) continue;
      if (before === undefined) past.delete(keyOfObject(changed));
      else past.set(keyOfObject(changed), before);
    }
    const inOrder = [...past].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, stored]) => stored);
    return inOrder.filter((stored) => isSelected(selection, stored.object));
  }

  /** Stores the object under the next revision, which becomes its resourceVersion; answers with what was stored. */
  put(type: ResourceType, object: KubernetesObject): KubernetesObject {
    const { namespace, name } = object.metadata;
    const revision = this.#nextRevision();
    const stored = new StoredObject({
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(revision) },
    });
    deepFreeze(stored.object);
    const key = keyOf(namespace, name);
    const before = this.#collection(type).get(key);
    this.#collection(type).set(key, stored);
    if (type === podsType) this.#indexPod(key, before, stored);
    this.#publish(new Change(type, revision, before, stored));
    return stored.object;
  }

  /** Forgets the object; answers with its last state, at the revision of its removal. */
  remove(type: ResourceType, object: KubernetesObject): KubernetesObject {
    const key = keyOf(object.metadata.namespace, object.metadata.name);
    const revision = this.#nextRevision();
    const before = this.#collection(type).get(key);
    this.#collection(type).delete(key);
    if (type === podsType) this.#indexPod(key, before, undefined);
    this.#publish(new Change(type, revision, before, undefined));
    const removed = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
    deepFreeze(removed);
    return removed;
  }

  /** The changes of one resource after a revision, oldest first. The revision must be resumable. */
  changesSince(type: ResourceType, revision: number): readonly Change[] {
    return this.#history.filter((change) => change.revision > revision && change.type === type);
  }

  /** Forgets all past changes. */
  compact(): void {
    this.#history = [];
    this.#compactedAt = this.#revision;
  }

  /** Calls the listener with every later change, within the write. */
  onChange(listener: (change: Change) => void): void {
    this.#listeners.add(listener);
  }

  #collection(type: ResourceType): Collection {
    const known = this.#collections.get(type);
    if (known !== undefined) return known;
    const collection = new Collection();
    this.#collections.set(type, collection);
    return collection;
  }

  #indexPod(key: string, before: StoredObject | undefined, after: StoredObject | undefined): void {
    const nodeBefore = textAt(before?.object, 'spec', 'nodeName');
    const nodeAfter = textAt(after?.object, 'spec', 'nodeName');
    if (before !== undefined && nodeBefore !== nodeAfter) this.#podsByNode.get(nodeBefore)?.delete(key);
    if (after === undefined) {
      this.#podsByNode.get(nodeBefore)?.delete(key);
      return;
    }
    const pods = this.#podsByNode.get(nodeAfter) ?? new Collection();
    this.#podsByNode.set(nodeAfter, pods);
    pods.set(key, after);
  }

  #nextRevision(): number {
    this.#revision += 1;
    return this.#revision;
  }

  #publish(change: Change): void {
    this.#history.push(change);
    if (this.#history.length > this.#historyLimit * 2) this.#trimHistory();
    for (const listener of this.#listeners) listener(change);
  }

  #trimHistory(): void {
    const forgotten = this.#history.splice(0, this.#history.length - this.#historyLimit);
    this.#compactedAt = forgotten.at(-1)?.revision ?? this.#compactedAt;
  }
}
