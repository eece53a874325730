import type { ArmError } from '../../azure/armError.js';
import type { ActivitySettings } from '../../environment.js';
import { waitAgainIfThereIsTime, waitedMs } from '../../waiting.js';

/** How long to wait before the next read of an operation: Azure's Retry-After within our bounds, else our own interval. */
export function clampDelay(settings: ActivitySettings, retryAfterMs: number | undefined): number {
  const { pollDelayMinMs, pollDelayMaxMs, replacement } = settings;
  return Math.min(Math.max(retryAfterMs ?? replacement.pollIntervalMs, pollDelayMinMs), pollDelayMaxMs);
}

/** How long to wait after a request that failed. A throttle has bounds of its own, and spreads those that it holds back. */
export function retryDelay(settings: ActivitySettings, { status, retryAfterMs }: ArmError): number {
  return status === 429 && retryAfterMs !== undefined ? retryAfterMs : clampDelay(settings, retryAfterMs);
}

/** Ends the attempt while it is earlier than Azure wants the operation to be read for the first time. */
export function waitForFirstLook(
  settings: ActivitySettings,
  { retryAfterMs }: { readonly retryAfterMs?: number | undefined },
): void {
  if (retryAfterMs === undefined) return;
  const leftMs = clampDelay(settings, retryAfterMs) - waitedMs();
  if (leftMs > 0) waitAgainIfThereIsTime('it is too early to read the operation', leftMs);
}
