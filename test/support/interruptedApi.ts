import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';

/** What others do around a write of ours: `before` it, when we have read the object, or right `after` it. */
export interface Others {
  readonly before?: () => Promise<void>;
  readonly after?: () => Promise<void>;
}

/**
 * A client whose writes of Nodes let others in.
 * @param others asked at each write
 */
export function letOthersIn(api: KubernetesApi, others: () => Others): KubernetesApi {
  const core = new Proxy(api.core, {
    get(target, name): unknown {
      const method: unknown = Reflect.get(target, name);
      if (name !== 'patchNode' || typeof method !== 'function') return method;
      return async (...args: unknown[]): Promise<unknown> => {
        const { before, after } = others();
        await before?.();
        const answer: unknown = await Reflect.apply(method, target, args);
        await after?.();
        return answer;
      };
    },
  });
  return { ...api, core };
}
