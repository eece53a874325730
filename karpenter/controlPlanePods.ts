import type { Pod } from './api.js';
import { isTerminal } from './pods.js';

/** Kubernetes' recommended labels, as the charts of both set them. */
const labels = ['app.kubernetes.io/name', 'app.kubernetes.io/part-of'];
const names: ReadonlySet<string> = new Set(['driftless', 'temporal']);

/** Whether Driftless' or Temporal's own pods run here: who replaces nodes must not pull the chair from under itself. */
export function carriesControlPlane(pods: readonly Pod[]): boolean {
  return pods.some((pod) => !isTerminal(pod) && labels.some((label) => names.has(pod.metadata.labels?.[label] ?? '')));
}
