import type { KubernetesObject } from './objects.js';
import type { Column } from './tableColumns.js';

/** A meta/v1 Table, which is what kubectl prints. */
export interface Table {
  readonly kind: 'Table';
  readonly apiVersion: 'meta.k8s.io/v1';
  readonly metadata: object;
  readonly columnDefinitions: readonly object[];
  readonly rows: readonly object[];
}

function definitionOf({ name, type, priority }: Column): object {
  return { name, type, format: name === 'Name' ? 'name' : '', description: '', priority };
}

function rowOf(columns: readonly Column[], object: KubernetesObject): object {
  const { metadata } = object;
  const head = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
  return { cells: columns.map(({ cell }) => cell(object)), object: head };
}

/** @param metadata of the list, or of the object */
export function tableOf(columns: readonly Column[], objects: readonly KubernetesObject[], metadata: object): Table {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: columns.map(definitionOf),
    rows: objects.map((object) => rowOf(columns, object)),
  };
}
