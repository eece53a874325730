import type { KubernetesObject } from './objects.js';

/** An object with its JSON text, which is made at most once however many read it. */
export class StoredObject {
  #fieldsJson: string | undefined;

  constructor(readonly object: KubernetesObject) {}

  /** The whole object. */
  get json(): string {
    const { kind, apiVersion } = this.object;
    return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},${this.#fields().slice(1)}`;
  }

  /** The object as an item of a typed list: without kind and apiVersion. */
  get itemJson(): string {
    return this.#fields();
  }

  #fields(): string {
    this.#fieldsJson ??= JSON.stringify({ ...this.object, kind: undefined, apiVersion: undefined });
    return this.#fieldsJson;
  }
}
