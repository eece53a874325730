import { loadYaml } from '@kubernetes/client-node';
import { z } from 'zod';

import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { request, requestIfFound } from '../../activities/kubernetes/request.js';
import { until } from '../until.js';

const resource = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };
const crdSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string(), labels: z.record(z.string(), z.string()).optional() }),
  spec: z.looseObject({
    group: z.string(),
    names: z.looseObject({ plural: z.string() }),
    versions: z.array(z.looseObject({ name: z.string() })),
  }),
});

const servedTimeoutMs = 30_000;

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
  for (const text of crds) {
    const crd = crdSchema.parse(loadYaml(text));
    const { metadata, spec } = crd;
    const { name } = metadata;
    const present = await requestIfFound<unknown>(`read CRD ${name}`, () =>
      api.custom.getClusterCustomObject({ ...resource, name }),
    );
    if (present === undefined) {
      const body = { ...crd, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } };
      await request(`create CRD ${name}`, () => api.custom.createClusterCustomObject({ ...resource, body }));
    }
    const { group, names } = spec;
    // The condition Established comes a little too early: the resource itself has to answer.
    for (const version of spec.versions.map((each) => each.name)) {
      await until(`${names.plural}.${group}/${version} are served`, servedTimeoutMs, () =>
        requestIfFound<unknown>(`list ${names.plural}`, () =>
          api.custom.listClusterCustomObject({ group, version, plural: names.plural }),
        ),
      );
    }
  }
}

/** Deletes the custom resource definitions with that label. */
export async function removeCrds(api: KubernetesApi, labelSelector: string): Promise<void> {
  await request('delete the CRDs', () =>
    api.custom.deleteCollectionClusterCustomObject({ ...resource, labelSelector }),
  );
}
