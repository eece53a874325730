import { createObject } from './createObject.js';
import type { ObjectStore } from './objectStore.js';
import { systemPriorityClasses } from './podPriority.js';
import { namespacesType, priorityClassesType } from './resources.js';

const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** Puts into an empty store what every API server makes by itself when it starts. */
export function createInitialObjects(store: ObjectStore): void {
  for (const name of namespaces) createObject(store, namespacesType, undefined, { metadata: { name } });
  for (const { name, value } of systemPriorityClasses) {
    createObject(store, priorityClassesType, undefined, { metadata: { name }, value });
  }
}
