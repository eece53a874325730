import type { ActivitySettings } from '../../environment.js';

/** How long to wait before the next read of an operation: Azure's Retry-After within our bounds, else our own interval. */
export function clampDelay(settings: ActivitySettings, retryAfterMs: number | undefined): number {
  const { pollDelayMinMs, pollDelayMaxMs, replacement } = settings;
  return Math.min(Math.max(retryAfterMs ?? replacement.pollIntervalMs, pollDelayMinMs), pollDelayMaxMs);
}
