import type { Pod, Taint } from './api.js';
import { parseGoDurationMs } from './goDuration.js';
import { doNotDisruptAnnotation } from './labels.js';

const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** `<namespace>/<name>`, as people name a pod. */
export function podName({ metadata }: Pod): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** A static pod's picture in the API: it lives and dies with its node. Karpenter knows it by its owner, kubectl by the annotation. */
export function isMirror(pod: Pod): boolean {
  return pod.metadata.annotations?.[mirrorAnnotation] !== undefined || isOwnedBy(pod, 'Node');
}

/** It has ended and will not run again. */
export function isTerminal({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

export function isTerminating({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function isOwnedBy({ metadata }: Pod, kind: string): boolean {
  return metadata.ownerReferences?.some((owner) => owner.kind === kind) ?? false;
}

export function isOwnedByDaemonSet(pod: Pod): boolean {
  return isOwnedBy(pod, 'DaemonSet');
}

/** Kubernetes' own rule: an absent effect, key or value of a toleration matches any. */
export function tolerates(pod: Pod, taint: Taint): boolean {
  return (pod.spec.tolerations ?? []).some((toleration) => {
    const effectMatches =
      toleration.effect === undefined || toleration.effect === '' || toleration.effect === taint.effect;
    const anyKey = toleration.key === undefined || toleration.key === '';
    if (!effectMatches || (!anyKey && toleration.key !== taint.key)) return false;
    if (toleration.operator === 'Exists') return true;
    return !anyKey && (toleration.value ?? '') === (taint.value ?? '');
  });
}

/**
 * A pod that has to find another node when this one goes, as Karpenter counts them: it runs, no DaemonSet and no static pod, and is
 * not on its way out, but for a StatefulSet's, which keeps its name until it is gone.
 */
export function isReschedulable(pod: Pod): boolean {
  const stays = isTerminal(pod) || isOwnedByDaemonSet(pod) || isMirror(pod);
  return !stays && (!isTerminating(pod) || isOwnedBy(pod, 'StatefulSet'));
}

/** Until when a pod may not be disrupted. */
export type Protection =
  | { readonly kind: 'none' }
  | { readonly kind: 'always' }
  /** Epoch milliseconds. */
  | { readonly kind: 'until'; readonly untilMs: number };

/**
 * What `karpenter.sh/do-not-disrupt` on a pod says: exactly `true` protects it always, a Go duration for so long after its start,
 * anything else not at all (pkg/utils/pod/scheduling.go, IsDoNotDisruptActive). A pod that has ended, or is being deleted, is not
 * protected.
 */
export function protectionOf(pod: Pod): Protection {
  const text = pod.metadata.annotations?.[doNotDisruptAnnotation];
  if (text === undefined || isTerminal(pod) || isTerminating(pod)) return { kind: 'none' };
  if (text === 'true') return { kind: 'always' };
  const durationMs = parseGoDurationMs(text);
  if (durationMs === undefined || durationMs <= 0) return { kind: 'none' };
  const startedAt = pod.status?.startTime;
  // Its time begins when a kubelet takes it on.
  return startedAt === undefined ? { kind: 'always' } : { kind: 'until', untilMs: Date.parse(startedAt) + durationMs };
}

/** The pod may not be disrupted at that instant. */
export function isProtected(pod: Pod, atMs: number): boolean {
  const protection = protectionOf(pod);
  switch (protection.kind) {
    case 'none':
      return false;
    case 'always':
      return true;
    case 'until':
      return atMs < protection.untilMs;
  }
}
