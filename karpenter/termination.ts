import type { NodeClaim } from './api.js';
import { parseGoDurationMs } from './goDuration.js';
import { terminationTimestampAnnotation } from './labels.js';

/**
 * How long the drain of this NodeClaim's node may take at the most before its pods are deleted, in milliseconds; undefined: no bound
 * of its own.
 * @throws Error when the field is no Go duration
 */
export function terminationGracePeriodMs({ metadata, spec }: NodeClaim): number | undefined {
  const text = spec.terminationGracePeriod;
  if (text === undefined) return undefined;
  const durationMs = parseGoDurationMs(text);
  if (durationMs === undefined) {
    throw new Error(
      `NodeClaim ${metadata.name}: spec.terminationGracePeriod: "${text}" is no Go duration such as 30m or 1h`,
    );
  }
  return durationMs;
}

/**
 * When all pods have to be gone, as Karpenter's annotation says it, in epoch milliseconds; undefined while it says nothing.
 * @throws Error when the annotation is no time
 */
export function terminationDeadlineMs({ metadata }: NodeClaim): number | undefined {
  const text = metadata.annotations?.[terminationTimestampAnnotation];
  if (text === undefined) return undefined;
  const deadlineMs = Date.parse(text);
  if (Number.isNaN(deadlineMs)) {
    throw new Error(
      `NodeClaim ${metadata.name}: annotation ${terminationTimestampAnnotation}: "${text}" is no RFC 3339 time`,
    );
  }
  return deadlineMs;
}

/** An instant in whole seconds, as Karpenter writes it into the annotation: RFC 3339. */
export function terminationTimestamp(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
