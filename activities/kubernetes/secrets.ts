import type { KubernetesApi } from './kubernetesApi.js';
import { requestIfFound } from './request.js';

/**
 * The decoded values of a Secret.
 * @throws Error that names the Secret when it does not exist
 */
export async function readSecret(
  api: KubernetesApi,
  namespace: string,
  name: string,
): Promise<Readonly<Record<string, string>>> {
  const secret = await requestIfFound(`read Secret ${namespace}/${name}`, () =>
    api.core.readNamespacedSecret({ namespace, name }),
  );
  if (secret === undefined) throw new Error(`Secret ${namespace}/${name} does not exist`);
  const entries = Object.entries(secret.data ?? {});
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));
}
