import type { KubernetesObject } from '../../../simulator/cluster/objects.js';
import { findCondition, isPodReady } from '../../../simulator/cluster/podConditions.js';
import type { Evidence, Violation } from '../evidence.js';

function isHealthy(pod: KubernetesObject): boolean {
  return pod.metadata.deletionTimestamp === undefined && findCondition(pod, 'Ready') !== undefined && isPodReady(pod);
}

/** Invariant 6: never fewer ready pods of the workload than its PodDisruptionBudget wants, after any write of anybody. */
export function podBudgetViolations({ cluster, podsAtLeast, driftAtMs }: Evidence): Violation[] {
  const healthy = new Set<string>();
  const violations: Violation[] = [];
  let wasViolated = false;
  for (const entry of cluster) {
    const { object, resource, status, removed, at } = entry;
    if (resource !== 'pods' || status >= 300 || object?.metadata.labels?.['app'] !== 'inflate') continue;
    if (removed !== true && isHealthy(object)) healthy.add(object.metadata.uid);
    else healthy.delete(object.metadata.uid);
    if (at < driftAtMs) continue;
    const isViolated = healthy.size < podsAtLeast;
    if (isViolated && !wasViolated) {
      violations.push({
        invariant: 6,
        what: `${healthy.size} pods ready, ${podsAtLeast} wanted, after ${entry.userAgent}: ${entry.verb} pod ${entry.name ?? ''}`,
        atMs: at - driftAtMs,
      });
    }
    wasViolated = isViolated;
  }
  return violations;
}
