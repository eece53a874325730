import type { PodDisruptionBudget } from '../../karpenter/api.js';
import { podDisruptionBudgetSchema } from '../../karpenter/api.js';
import type { Collection } from './informer.js';
import { parseList, parseObject } from './parse.js';
import { request } from './request.js';

const kind = 'PodDisruptionBudget';

export const podDisruptionBudgetCollection: Collection<PodDisruptionBudget> = {
  path: '/apis/policy/v1/poddisruptionbudgets',
  list: async (api) =>
    parseList(
      kind,
      podDisruptionBudgetSchema,
      await request('list PodDisruptionBudgets', () => api.policy.listPodDisruptionBudgetForAllNamespaces()),
    ),
  parse: (object) => parseObject(kind, podDisruptionBudgetSchema, object),
  key: ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
};
