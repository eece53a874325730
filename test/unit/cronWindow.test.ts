import { describe, expect, it } from '@jest/globals';

import type { CronSchedule } from '../../karpenter/cron.js';
import { readCron } from '../../karpenter/cron.js';
import { windowAt } from '../../karpenter/cronWindow.js';
import { parseGoDurationMs } from '../../karpenter/goDuration.js';
import { Random } from './random.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

function scheduleOf(text: string): CronSchedule {
  const reading = readCron(text);
  if (reading.kind === 'unreadable') throw new Error(`"${text}": ${reading.why}`);
  return reading.schedule;
}

/** Whether it is open, and the next edge in ISO 8601. */
function seen(schedule: string, duration: string, at: string): [boolean, string | null] {
  const durationMs = parseGoDurationMs(duration);
  if (durationMs === undefined) throw new Error(`"${duration}" is no duration`);
  const { isOpen, nextEdgeMs } = windowAt(scheduleOf(schedule), durationMs, Date.parse(at));
  return [isOpen, nextEdgeMs === null ? null : new Date(nextEdgeMs).toISOString()];
}

describe('a window', () => {
  it.each<[string, string, string, boolean, string | null]>([
    ['0 9 * * *', '8h', '2026-01-05T08:59:59.999Z', false, '2026-01-05T09:00:00.000Z'],
    ['0 9 * * *', '8h', '2026-01-05T09:00:00Z', true, '2026-01-05T17:00:00.000Z'],
    ['0 9 * * *', '8h', '2026-01-05T16:59:59.999Z', true, '2026-01-05T17:00:00.000Z'],
    ['0 9 * * *', '8h', '2026-01-05T17:00:00Z', false, '2026-01-06T09:00:00.000Z'],
    ['0 22 * * *', '4h', '2026-01-06T01:00:00Z', true, '2026-01-06T02:00:00.000Z'],
    // Windows that overlap or touch are one.
    ['0 7-13 * * *', '7h', '2026-01-05T08:00:00Z', true, '2026-01-05T20:00:00.000Z'],
    ['0 16 * * mon-fri', '24h', '2026-01-06T00:00:00Z', true, '2026-01-10T16:00:00.000Z'],
    ['0 0 * * sat,sun', '24h', '2026-01-10T12:00:00Z', true, '2026-01-12T00:00:00.000Z'],
    ['*/5 9 * * *', '5m', '2026-01-05T09:01:00Z', true, '2026-01-05T10:00:00.000Z'],
    ['*/5 9 * * *', '4m', '2026-01-05T09:01:00Z', true, '2026-01-05T09:04:00.000Z'],
    // A minute is missing once a day, once a week, once a year.
    ['* * * * *', '1m', '2026-01-05T12:00:00Z', true, null],
    ['0-58 * * * *', '1m', '2026-01-05T12:00:00Z', true, '2026-01-05T12:59:00.000Z'],
    ['0 0 * * *', '1439m', '2026-01-05T12:00:00Z', true, '2026-01-05T23:59:00.000Z'],
    ['0 0 * * *', '24h', '2026-01-05T12:00:00Z', true, null],
    ['* * * 1-11 *', '1m', '2026-01-05T12:00:00Z', true, '2026-12-01T00:00:00.000Z'],
    ['0 * * * 1-6', '1h', '2026-01-05T12:00:00Z', true, '2026-01-11T00:00:00.000Z'],
    ['0 * * * 1-6', '25h', '2026-01-05T12:00:00Z', true, null],
    // Rare ones.
    ['0 0 29 2 *', '24h', '2026-01-05T12:00:00Z', false, '2028-02-29T00:00:00.000Z'],
    ['0 0 29 2 *', '24h', '2028-02-29T12:00:00Z', true, '2028-03-01T00:00:00.000Z'],
    ['@yearly', '8760h', '2026-06-05T12:00:00Z', true, '2028-12-31T00:00:00.000Z'],
    // Without any hit in reach always open, as in Karpenter.
    ['0 0 30 2 *', '1h', '2026-01-05T12:00:00Z', true, null],
    [', * * * *', '1h', '2026-01-05T12:00:00Z', true, null],
    ['0 0 29 2 *', '24h', '2097-01-05T12:00:00Z', true, null],
    ['0 0 29 2 *', '24h', '2096-02-29T12:00:00Z', true, null],
    // Without a length never open.
    ['0 9 * * *', '0s', '2026-01-05T09:00:00Z', false, null],
    ['0 9 * * *', '-1h', '2026-01-05T09:00:00Z', false, null],
    // @every counts from the instant.
    ['@every 1h', '1h', '2026-01-05T12:34:56.789Z', true, null],
    ['@every 61m', '1h', '2026-01-05T12:34:56.789Z', false, null],
  ])('"%s" for %s at %s is open: %s, until %s', (schedule, duration, at, isOpen, edge) => {
    expect(seen(schedule, duration, at)).toEqual([isOpen, edge]);
  });

  it('is the same as found by a scan of every minute, for random schedules', () => {
    const random = new Random(1861);
    let edges = 0;
    for (let round = 0; round < 200; round += 1) {
      const spec = randomSpec(random);
      const durationMs = (1 + random.below(random.below(2) === 0 ? 90 : 3_000)) * minuteMs;
      const atMs = Date.UTC(2026, random.below(24), 1) + random.below(31 * 24 * 3_600) * 1_000 + random.below(1_000);
      const expected = scan(spec, durationMs, atMs);
      const { isOpen, nextEdgeMs } = windowAt(scheduleOf(spec.text), durationMs, atMs);
      const isInScan = nextEdgeMs !== null && nextEdgeMs <= atMs + scanMs;
      const found = { isOpen, nextEdgeMs: isInScan ? nextEdgeMs : null };
      expect({ text: spec.text, durationMs, atMs, ...found }).toEqual({
        text: spec.text,
        durationMs,
        atMs,
        ...expected,
      });
      if (isInScan) edges += 1;
    }
    expect(edges).toBeGreaterThan(100);
  });
});

/** How far the scan looks for an edge. */
const scanMs = 8 * dayMs;

/** A schedule as lists of values; undefined stands for a star. */
interface Spec {
  readonly text: string;
  readonly minutes: readonly number[] | undefined;
  readonly hours: readonly number[] | undefined;
  readonly daysOfMonth: readonly number[] | undefined;
  readonly daysOfWeek: readonly number[] | undefined;
}

function randomSpec(random: Random): Spec {
  const values = (from: number, to: number, starIn: number): number[] | undefined => {
    if (random.below(starIn) === 0) return undefined;
    const width = to - from + 1;
    return Array.from(
      { length: 1 + random.below(random.below(3) === 0 ? width : 4) },
      () => from + random.below(width),
    );
  };
  const minutes = values(0, 59, 5);
  const hours = values(0, 23, 3);
  const daysOfMonth = values(1, 31, 2);
  const daysOfWeek = values(0, 6, 2);
  const text = [minutes, hours, daysOfMonth, undefined, daysOfWeek].map((list) => list?.join(',') ?? '*').join(' ');
  return { text, minutes, hours, daysOfMonth, daysOfWeek };
}

function isHit({ minutes, hours, daysOfMonth, daysOfWeek }: Spec, atMs: number): boolean {
  const date = new Date(atMs);
  const isTime = (minutes?.includes(date.getUTCMinutes()) ?? true) && (hours?.includes(date.getUTCHours()) ?? true);
  if (!isTime) return false;
  const isDayOfMonth = daysOfMonth?.includes(date.getUTCDate());
  const isDayOfWeek = daysOfWeek?.includes(date.getUTCDay());
  if (isDayOfMonth === undefined || isDayOfWeek === undefined) return (isDayOfMonth ?? true) && (isDayOfWeek ?? true);
  return isDayOfMonth || isDayOfWeek;
}

/** Walks from minute to minute and remembers the last hit: open while that is less than the duration ago. */
function scan(spec: Spec, durationMs: number, atMs: number): { isOpen: boolean; nextEdgeMs: number | null } {
  const startMs = Math.floor(atMs / minuteMs) * minuteMs;
  let lastHitMs = -Infinity;
  let isOpen: boolean | undefined;
  for (let minute = startMs - durationMs; minute <= atMs + scanMs; minute += minuteMs) {
    if (isHit(spec, minute)) lastHitMs = minute;
    const isOpenNow = minute - lastHitMs < durationMs;
    if (minute === startMs) isOpen = isOpenNow;
    if (minute > startMs && isOpenNow !== isOpen) return { isOpen: isOpen === true, nextEdgeMs: minute };
  }
  return { isOpen: isOpen === true, nextEdgeMs: null };
}
