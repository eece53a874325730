import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';

import { failureTypes } from '../workflows/failures.js';
import type { Collection } from './kubernetes/informer.js';
import { Informer } from './kubernetes/informer.js';
import type { InformerOptions } from './kubernetes/informer.js';
import type { KubernetesApi } from './kubernetes/kubernetesApi.js';
import { parseList, parseObject } from './kubernetes/parse.js';
import { pausedWhyOf } from './kubernetes/pausedConfigMap.js';
import { PausedError, request } from './kubernetes/request.js';

const configMapSchema = z.object({
  metadata: z.object({ name: z.string(), resourceVersion: z.string().optional() }),
  data: z.record(z.string(), z.string()).optional(),
});
type ConfigMap = z.infer<typeof configMapSchema>;

/** Where the kill switch is. */
export interface KillSwitchName {
  readonly namespace: string;
  readonly name: string;
}

function collectionOf({ namespace, name }: KillSwitchName): Collection<ConfigMap> {
  const fieldSelector = `metadata.name=${name}`;
  return {
    path: `/api/v1/namespaces/${namespace}/configmaps`,
    fieldSelector,
    list: async (api) =>
      parseList(
        'ConfigMap',
        configMapSchema,
        await request(`list ConfigMap ${namespace}/${name}`, () =>
          api.core.listNamespacedConfigMap({ namespace, fieldSelector }),
        ),
      ),
    parse: (object) => parseObject('ConfigMap', configMapSchema, object),
    key: ({ metadata }) => metadata.name,
  };
}

/**
 * Stops every change that we make, without Temporal: a ConfigMap with `paused: "true"`. It is watched, so that it works within a
 * second and costs no request.
 */
export class KillSwitch {
  readonly #informer: Informer<ConfigMap>;

  constructor(
    api: KubernetesApi,
    private readonly name: KillSwitchName,
    options: InformerOptions,
  ) {
    this.#informer = new Informer(api, collectionOf(name), options);
  }

  get synced(): Promise<void> {
    return this.#informer.synced;
  }

  /** Since when and why a turn of the switch would not be seen; undefined: it would. */
  get whyBehind(): string | undefined {
    return this.#informer.whyBehind;
  }

  /** Why nothing may be changed now, in words for people; undefined: everything may. */
  get pausedWhy(): string | undefined {
    return pausedWhyOf(this.name, this.#informer.get(this.name.name)?.data);
  }

  /** @throws PausedError when nothing may be changed now */
  check(): void {
    const why = this.pausedWhy;
    if (why !== undefined) throw new PausedError(why);
  }

  /** Calls the listener when the switch may have been turned; answers how to stop that. */
  onChange(listener: () => void): () => void {
    return this.#informer.onChange(listener);
  }

  async stop(): Promise<void> {
    await this.#informer.stop();
  }
}

/** Runs an activity unless the kill switch stands against it; then it fails with Paused, at once and for good: no deadline runs. */
export async function unlessPaused<T>(killSwitch: KillSwitch, activity: () => Promise<T>): Promise<T> {
  try {
    killSwitch.check();
    return await activity();
  } catch (error) {
    if (error instanceof PausedError) throw ApplicationFailure.nonRetryable(error.message, failureTypes.paused);
    throw error;
  }
}
