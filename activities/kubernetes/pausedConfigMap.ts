import type { ConfigMapData, ConfigMapName } from './configMaps.js';
import { readConfigMap } from './configMaps.js';
import type { KubernetesApi } from './kubernetesApi.js';

/** Why nothing may be changed, by the values of the ConfigMap that is the kill switch; undefined: everything may. */
export function pausedWhyOf({ namespace, name }: ConfigMapName, data: ConfigMapData | undefined): string | undefined {
  return data?.paused === 'true' ? `the ConfigMap ${namespace}/${name} says paused: "true"` : undefined;
}

/** The same, read live. */
export async function readPausedWhy(api: KubernetesApi, killSwitch: ConfigMapName): Promise<string | undefined> {
  return pausedWhyOf(killSwitch, await readConfigMap(api, killSwitch));
}
