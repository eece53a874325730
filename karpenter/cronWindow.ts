import type { CalendarSchedule, CronSchedule } from './cron.js';
import { dayMs, nextHit } from './cron.js';

/** A run of windows is followed no further than this: five years, as far as the schedule's hits are known. */
const horizonMs = 5 * 366 * dayMs;

/** The windows `[hit, hit + duration)` of a schedule, seen from one instant. */
export interface WindowState {
  readonly isOpen: boolean;
  /** When that changes next, epoch milliseconds; null: not within five years. */
  readonly nextEdgeMs: number | null;
}

function lastTimeOfDayMs(schedule: CalendarSchedule): number {
  return schedule.timesOfDayMs.at(-1) ?? 0;
}

/** Whether one window reaches the next one all day long, on a day that matches. */
function isDayCovered({ timesOfDayMs }: CalendarSchedule, durationMs: number): boolean {
  return timesOfDayMs.every((timeMs, index) => timeMs - (timesOfDayMs[index - 1] ?? timeMs) <= durationMs);
}

/** The end of the run of windows that begins with the hit, where windows that touch or overlap are one. */
function endOfRunMs(schedule: CalendarSchedule, durationMs: number, hitMs: number, untilMs: number): number | null {
  const isCovered = isDayCovered(schedule, durationMs);
  let lastMs = hitMs;
  while (lastMs < untilMs) {
    // From any hit of a covered day straight to its last one: a schedule may hit every minute of five years.
    const midnightMs = Math.floor(lastMs / dayMs) * dayMs;
    if (isCovered) lastMs = midnightMs + lastTimeOfDayMs(schedule);
    const nextMs = nextHit(schedule, isCovered ? midnightMs + dayMs - 1 : lastMs);
    if (nextMs === undefined) return null;
    if (nextMs > lastMs + durationMs) return lastMs + durationMs;
    lastMs = nextMs;
  }
  return null;
}

/**
 * Whether a window holds the instant, computed as Karpenter does: one duration back, the next hit is not after now. So a schedule
 * that never hits is always open there, and here.
 */
export function windowAt(schedule: CronSchedule, durationMs: number, atMs: number): WindowState {
  const hitMs = nextHit(schedule, atMs - durationMs);
  if (hitMs === undefined) return { isOpen: true, nextEdgeMs: null };
  const isOpen = hitMs <= atMs;
  // `@every` counts from the instant itself, so its window is always open or never; so is one without a duration.
  if (schedule.kind === 'every' || durationMs <= 0) return { isOpen, nextEdgeMs: null };
  return { isOpen, nextEdgeMs: isOpen ? endOfRunMs(schedule, durationMs, hitMs, atMs + horizonMs) : hitMs };
}
