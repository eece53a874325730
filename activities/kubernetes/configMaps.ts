import type { KubernetesApi } from './kubernetesApi.js';
import { mergePatch } from './kubernetesApi.js';
import { request, requestIfFound, retryOnConflict } from './request.js';

/** A ConfigMap by name. */
export interface ConfigMapName {
  readonly namespace: string;
  readonly name: string;
}

export type ConfigMapData = Readonly<Record<string, string>>;

/** The live values of a ConfigMap; none when it does not exist. */
export async function readConfigMap(api: KubernetesApi, configMap: ConfigMapName): Promise<ConfigMapData> {
  const { name, namespace } = configMap;
  const object = await requestIfFound(`read ConfigMap ${namespace}/${name}`, () =>
    api.core.readNamespacedConfigMap({ name, namespace }),
  );
  return object?.data ?? {};
}

/**
 * Changes values of a ConfigMap, which is created when it does not exist; again with a fresh read when somebody else was faster.
 * @param change answers what to set, from the live values; null removes a key; undefined when nothing has to change
 */
export async function updateConfigMap(
  api: KubernetesApi,
  { name, namespace }: ConfigMapName,
  change: (data: ConfigMapData) => Readonly<Record<string, string | null>> | undefined,
): Promise<void> {
  await retryOnConflict(async () => {
    const object = await requestIfFound(`read ConfigMap ${namespace}/${name}`, () =>
      api.core.readNamespacedConfigMap({ name, namespace }),
    );
    const data = change(object?.data ?? {});
    if (data === undefined) return;
    if (object === undefined) {
      const given = Object.entries(data).filter((entry): entry is [string, string] => entry[1] !== null);
      const body = { metadata: { name }, data: Object.fromEntries(given) };
      await request(`create ConfigMap ${namespace}/${name}`, () =>
        api.core.createNamespacedConfigMap({ namespace, body }),
      );
      return;
    }
    const body = { metadata: { resourceVersion: object.metadata?.resourceVersion }, data };
    await request(`change ConfigMap ${namespace}/${name}`, () =>
      api.core.patchNamespacedConfigMap({ name, namespace, body }, mergePatch),
    );
  });
}
