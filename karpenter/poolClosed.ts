import type { BudgetError } from './budget.js';
import { budgetErrorLine } from './budgetErrorLine.js';
import type { Conditioned } from './conditions.js';
import { conditionTypes, getCondition } from './conditions.js';
import { managedAnnotation } from './labels.js';
import type { Pool } from './pool.js';
import { isManaged } from './pool.js';

/** Without the condition nobody has an opinion; anything but True is a no. */
function notReadyWhy(kind: string, name: string, object: Conditioned): string | undefined {
  const ready = getCondition(object, conditionTypes.ready);
  if (ready === undefined || ready.status === 'True') return undefined;
  return `${kind} ${name} is not Ready: ${[ready.reason, ready.message].filter(Boolean).join(': ')}`;
}

/** Why a whole pool is left alone, in words for people, or undefined when it is not. */
export function poolClosedWhy(pool: Pool, budgetErrors: readonly BudgetError[]): string | undefined {
  const { nodePool, nodeClass } = pool;
  const { name, deletionTimestamp } = nodePool.metadata;
  if (deletionTimestamp !== undefined) return `NodePool ${name} is being deleted`;
  if (!isManaged(nodePool)) return `NodePool ${name} is not annotated ${managedAnnotation}: "true"`;
  const poolWhy = notReadyWhy('NodePool', name, nodePool);
  if (poolWhy !== undefined) return poolWhy;
  const { group, kind, name: className } = nodePool.spec.template.spec.nodeClassRef;
  if (group !== 'karpenter.azure.com' || kind !== 'AKSNodeClass')
    return `NodePool ${name}: spec.template.spec.nodeClassRef is ${group}/${kind}, it must be karpenter.azure.com/AKSNodeClass`;
  if (nodeClass === undefined) return `${kind} ${className} does not exist`;
  if (nodeClass.metadata.deletionTimestamp !== undefined) return `${kind} ${className} is being deleted`;
  const classWhy = notReadyWhy(kind, className, nodeClass);
  if (classWhy !== undefined) return classWhy;
  const [error] = budgetErrors;
  return error === undefined ? undefined : budgetErrorLine(name, error);
}
