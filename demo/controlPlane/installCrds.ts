import type { KubeConfig } from '@kubernetes/client-node';
import { loadYaml } from '@kubernetes/client-node';
import type { IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import { hasCode, request, requestIfFound } from '../../activities/kubernetes/request.js';
import { until } from '../until.js';

const resource = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };
const path = `/apis/${resource.group}/${resource.version}/${resource.plural}`;
const crdSchema = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    group: z.string(),
    names: z.object({ plural: z.string() }),
    versions: z.array(z.object({ name: z.string() })),
  }),
});

const servedTimeoutMs = 30_000;

/** The text as it is: client-node's models would rename what they read of a schema. */
async function createFromYaml(kubeConfig: KubeConfig, name: string, yaml: string): Promise<void> {
  const headers = { 'Content-Type': 'application/yaml', 'Content-Length': Buffer.byteLength(yaml) };
  const options: RequestOptions = { method: 'POST', agent: false, headers };
  await kubeConfig.applyToHTTPSOptions(options);
  const outgoing = httpsRequest((kubeConfig.getCurrentCluster()?.server ?? '') + path, options).end(yaml);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve);
    outgoing.on('error', reject);
  });
  const answer = await text(response);
  if (response.statusCode !== 201) throw new Error(`CRD ${name} was refused: ${answer}`);
}

/** Whether the resource itself answers: the condition Established comes a little too early. */
async function isServed(api: KubernetesApi, served: typeof resource): Promise<true | undefined> {
  try {
    await request<unknown>(`list ${served.plural}`, () => api.custom.listClusterCustomObject(served));
    return true;
  } catch (error) {
    // 429: its storage is being initialized.
    if (hasCode(error, 404, 429)) return undefined;
    throw error;
  }
}

/**
 * Creates the custom resource definitions that the API server does not have yet, and waits until all are served.
 * @param crds each in YAML
 * @param labels of those that are created
 */
export async function installCrds(
  api: KubernetesApi,
  crds: readonly string[],
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const yaml of crds) {
    const { metadata, spec } = crdSchema.parse(loadYaml(yaml));
    const crd = { ...resource, name: metadata.name };
    const present = await requestIfFound<unknown>(`read CRD ${crd.name}`, () => api.custom.getClusterCustomObject(crd));
    if (present === undefined) {
      await createFromYaml(api.kubeConfig, crd.name, yaml);
      await request<unknown>(`label CRD ${crd.name}`, () =>
        api.custom.patchClusterCustomObject({ ...crd, body: { metadata: { labels } } }, mergePatch),
      );
    }
    const { group, names } = spec;
    for (const version of spec.versions.map((each) => each.name)) {
      const served = { group, version, plural: names.plural };
      await until(`${names.plural}.${group}/${version} are served`, servedTimeoutMs, () => isServed(api, served));
    }
  }
}

/** Deletes the custom resource definitions with that label. */
export async function removeCrds(api: KubernetesApi, labelSelector: string): Promise<void> {
  await request<unknown>('delete the CRDs', () =>
    api.custom.deleteCollectionClusterCustomObject({ ...resource, labelSelector }),
  );
}
