import { loadYaml } from '@kubernetes/client-node';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

import type { Access } from './access.js';
import { sendRaw } from './access.js';

const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const crdSchema = z.object({
  spec: z.object({
    group: z.string(),
    names: z.object({ plural: z.string() }),
    versions: z.array(z.object({ name: z.string() })),
  }),
});

const servedTimeoutMs = 30_000;
const probeIntervalMs = 50;

/** Whether the resource itself answers: the condition Established comes a little too early. */
async function waitUntilServed(access: Access, path: string): Promise<void> {
  const deadlineMs = performance.now() + servedTimeoutMs;
  while ((await sendRaw(access, 'GET', path)).code !== 200) {
    if (performance.now() > deadlineMs)
      throw new Error(`${path} is not served ${servedTimeoutMs / 1000} s after its CRD`);
    await delay(probeIntervalMs);
  }
}

/**
 * Creates custom resource definitions and waits until they are served.
 * @param crds each in YAML
 */
export async function installCrds(access: Access, crds: readonly string[]): Promise<void> {
  for (const body of crds) {
    const answer = await sendRaw(access, 'POST', crdPath, { body, headers: { 'Content-Type': 'application/yaml' } });
    if (answer.code !== 201) throw new Error(`a CRD was refused: ${JSON.stringify(answer.body)}`);
    const { spec } = crdSchema.parse(loadYaml(body));
    for (const { name } of spec.versions) {
      await waitUntilServed(access, `/apis/${spec.group}/${name}/${spec.names.plural}`);
    }
  }
}
