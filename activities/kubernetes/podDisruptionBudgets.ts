import type { PodDisruptionBudget } from '../../karpenter/api.js';
import { podDisruptionBudgetSchema } from '../../karpenter/api.js';
import type { Collection } from './informer.js';
import { pagedList } from './pagedList.js';
import { parseObject } from './parse.js';

const kind = 'PodDisruptionBudget';

export const podDisruptionBudgetCollection: Collection<PodDisruptionBudget> = {
  path: '/apis/policy/v1/poddisruptionbudgets',
  list: pagedList(kind, podDisruptionBudgetSchema, (api, page) =>
    api.policy.listPodDisruptionBudgetForAllNamespaces(page),
  ),
  parse: (object) => parseObject(kind, podDisruptionBudgetSchema, object),
  key: ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
};
