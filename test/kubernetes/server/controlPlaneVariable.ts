import { z } from 'zod';

/** In which the tests find the control plane that was started for them. */
export const controlPlaneVariable = 'DRIFTLESS_TEST_CONTROL_PLANE';

const schema = z.object({
  access: z.object({ endpoint: z.string(), caPem: z.string(), token: z.string() }),
  kubeConfigPath: z.string(),
  binaries: z.object({
    etcd: z.string(),
    'kube-apiserver': z.string(),
    'kube-controller-manager': z.string(),
    'kube-scheduler': z.string(),
  }),
});

/** How to get at the control plane that the tests share; undefined when they run without one. */
export function controlPlaneIn(environment: NodeJS.ProcessEnv): z.infer<typeof schema> | undefined {
  const text = environment[controlPlaneVariable];
  return text === undefined ? undefined : schema.parse(JSON.parse(text));
}
