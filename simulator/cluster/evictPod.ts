import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

import { checkPreconditions, deleteObject, deleteOptionsSchema } from './deleteObject.js';
import type { DeleteOptions } from './deleteObject.js';
import { matchesLabels, readLabelSelector } from './labelSelector.js';
import type { KubernetesObject } from './objects.js';
import { fieldAt, isFields, textAt, timestampAt } from './objects.js';
import type { ObjectStore } from './objectStore.js';
import { findCondition, isPodReady, statusWithCondition } from './podConditions.js';
import { budgetsType, podsType } from './resources.js';
import type { ApiError } from './statusErrors.js';
import { badRequest, forbidden, notImplemented, tooManyRequests, unforeseen } from './statusErrors.js';
import type { Written } from './updateObject.js';

/** A policy/v1 Eviction. */
export const evictionSchema = z.looseObject({
  apiVersion: z.enum(['policy/v1', 'policy/v1beta1']).default('policy/v1'),
  kind: z.literal('Eviction').default('Eviction'),
  metadata: z.looseObject({ name: z.string().default('') }).prefault({}),
  deleteOptions: deleteOptionsSchema.nullish(),
});
export type Eviction = z.infer<typeof evictionSchema>;

const maxDisruptedPods = 2000;
const violatesBudget = "Cannot evict pod as it would violate the pod's disruption budget.";

function numberAt(budget: KubernetesObject, field: string): number {
  const value = fieldAt(budget, 'status', field);
  return typeof value === 'number' ? value : 0;
}

function isBlockedNow(message: string, retryAfterSeconds: number): ApiError {
  return tooManyRequests(violatesBudget, retryAfterSeconds, [{ reason: 'DisruptionBudget', message }]);
}

/** Terminal, pending and terminating pods: evicting them disrupts nothing. */
function isOutsideBudgets(pod: KubernetesObject): boolean {
  const phase = textAt(pod, 'status', 'phase');
  return ['Succeeded', 'Failed', 'Pending'].includes(phase) || pod.metadata.deletionTimestamp !== undefined;
}

function budgetsOf(store: ObjectStore, pod: KubernetesObject): readonly KubernetesObject[] {
  const { namespace, labels } = pod.metadata;
  return store
    .list({ type: budgetsType, namespace, labels: [], fields: [] })
    .map((stored) => stored.object)
    .filter((budget) => {
      const selector = readLabelSelector(fieldAt(budget, 'spec', 'selector'));
      return selector !== undefined && matchesLabels(selector, labels);
    });
}

/** A pod that is not ready does not count as healthy: it may go without using the budget up. */
function isFreeToGo(pod: KubernetesObject, budget: KubernetesObject): boolean {
  if (isPodReady(pod)) return false;
  if (textAt(budget, 'spec', 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true;
  const desired = numberAt(budget, 'desiredHealthy');
  return desired > 0 && numberAt(budget, 'currentHealthy') >= desired;
}

function whyBlocked(budget: KubernetesObject): string {
  const { name } = budget.metadata;
  const condition = findCondition(budget, 'DisruptionAllowed');
  const message = textAt(condition, 'message');
  const says = textAt(condition, 'status') === 'False' && message !== '';
  const blocks = `The disruption budget ${name} does not allow evicting pods currently`;
  const reason = textAt(condition, 'reason');
  if (says && reason === 'SyncFailed') return `${blocks} because it failed sync: ${message}`;
  const desired = numberAt(budget, 'desiredHealthy');
  const healthy = numberAt(budget, 'currentHealthy');
  if (healthy <= desired) {
    return `The disruption budget ${name} needs ${desired} healthy pods and has ${healthy} currently`;
  }
  return says ? `${blocks} (${reason}): ${message}` : blocks;
}

function checkBudget(budget: KubernetesObject): void {
  const { name, generation } = budget.metadata;
  if (numberAt(budget, 'observedGeneration') < (generation ?? 0)) {
    throw isBlockedNow(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  if (numberAt(budget, 'disruptionsAllowed') < 0) {
    throw forbidden('policy', 'poddisruptionbudget', name, 'pdb disruptions allowed is negative');
  }
  const disrupted = fieldAt(budget, 'status', 'disruptedPods');
  if (isFields(disrupted) && Object.keys(disrupted).length > maxDisruptedPods) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw forbidden('policy', 'poddisruptionbudget', name, why);
  }
  if (numberAt(budget, 'disruptionsAllowed') === 0) throw isBlockedNow(whyBlocked(budget), 0);
}

/** Takes one disruption out of the budget, and notes for which pod. */
function useBudget(store: ObjectStore, budget: KubernetesObject, podName: string): void {
  checkBudget(budget);
  const disruptionsAllowed = numberAt(budget, 'disruptionsAllowed') - 1;
  const disrupted = fieldAt(budget, 'status', 'disruptedPods');
  const before = disruptionsAllowed > 0 ? budget['status'] : statusOfUsedUpBudget(budget);
  const disruptedPods = { ...(isFields(disrupted) ? disrupted : {}), [podName]: timestampAt(Date.now()) };
  store.put(budgetsType, {
    ...budget,
    status: { ...(isFields(before) ? before : {}), disruptionsAllowed, disruptedPods },
  });
}

function statusOfUsedUpBudget(budget: KubernetesObject): unknown {
  const observedGeneration = numberAt(budget, 'observedGeneration');
  return statusWithCondition(budget, {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'InsufficientPods',
    observedGeneration,
  });
}

/** The API server writes this condition before it deletes: the preconditions are about the pod before that. */
function markEvicted(store: ObjectStore, pod: KubernetesObject, options: DeleteOptions): KubernetesObject {
  checkPreconditions(podsType, pod, options);
  const status = statusWithCondition(pod, {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  });
  return isDeepStrictEqual(status, pod['status']) ? pod : store.put(podsType, { ...pod, status });
}

/**
 * Evicts a pod: deletes it if its disruption budget allows that.
 * @throws ApiError 429 when the budget does not allow it now, 500 when several budgets cover the pod
 */
export function evictPod(store: ObjectStore, pod: KubernetesObject, eviction: Eviction): Written {
  if (eviction.metadata.name !== pod.metadata.name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  const options = eviction.deleteOptions ?? {};
  if ((options.dryRun ?? []).length > 0) throw notImplemented('dryRun');
  const budgets = isOutsideBudgets(pod) ? [] : budgetsOf(store, pod);
  if (budgets.length > 1) {
    throw unforeseen(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  const [budget] = budgets;
  if (budget !== undefined && !isFreeToGo(pod, budget)) useBudget(store, budget, pod.metadata.name);
  const marked = markEvicted(store, pod, options);
  const preconditions = { ...options.preconditions, resourceVersion: marked.metadata.resourceVersion };
  return deleteObject(store, podsType, marked, { ...options, preconditions });
}
