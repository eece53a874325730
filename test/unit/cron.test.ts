import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

import type { CronReading, CronSchedule } from '../../karpenter/cron.js';
import type { CronField } from '../../karpenter/cronField.js';
import { nextHit, readCron } from '../../karpenter/cron.js';
import { parseGoDurationMs } from '../../karpenter/goDuration.js';

const hitsSchema = z.object({ afterMs: z.number(), hitsMs: z.array(z.number()) });
const fixturesSchema = z.object({
  schedules: z.array(
    z.object({
      text: z.string(),
      parses: z.boolean(),
      bits: z.array(z.string()).optional(),
      everyMs: z.number().optional(),
      next: z.array(hitsSchema).default([]),
    }),
  ),
  durations: z.array(z.object({ text: z.string(), parses: z.boolean(), ns: z.string().optional() })),
});

const fixturesFile = new URL('../cases/robfig/fixtures.json', import.meta.url);
const { schedules, durations } = fixturesSchema.parse(JSON.parse(readFileSync(fixturesFile, 'utf8')));
const hitsPerInstant = 3;

function scheduleOf(text: string): CronSchedule {
  const reading = readCron(text);
  if (reading.kind === 'unreadable') throw new Error(`"${text}": ${reading.why}`);
  return reading.schedule;
}

/** The field as robfig's bit set, in which the top bit stands for a star. */
function bitsOf({ values, hasStar }: CronField): string {
  let bits = hasStar ? 1n << 63n : 0n;
  for (const value of values) bits |= 1n << BigInt(value);
  return String(bits);
}

function partsOf(reading: CronReading): { parses: boolean; bits?: string[]; everyMs?: number } {
  if (reading.kind === 'unreadable') return { parses: false };
  const { schedule } = reading;
  if (schedule.kind === 'every') return { parses: true, everyMs: schedule.delayMs };
  const { minute, hour, dayOfMonth, month, dayOfWeek } = schedule;
  return { parses: true, bits: [minute, hour, dayOfMonth, month, dayOfWeek].map(bitsOf) };
}

function hitsAfter(schedule: CronSchedule, afterMs: number): number[] {
  const hitsMs: number[] = [];
  let hitMs = nextHit(schedule, afterMs);
  while (hitMs !== undefined && hitsMs.length < hitsPerInstant) {
    hitsMs.push(hitMs);
    hitMs = nextHit(schedule, hitMs);
  }
  return hitsMs;
}

describe('schedules, as robfig/cron reads them', () => {
  it('are many, readable and not', () => {
    expect(schedules.filter(({ parses }) => parses).length).toBeGreaterThan(100);
    expect(schedules.filter(({ parses }) => !parses).length).toBeGreaterThan(100);
    expect(schedules.filter(({ next }) => next.some(({ hitsMs }) => hitsMs.length === 0)).length).toBeGreaterThan(10);
  });

  it.each(schedules)('$text', ({ text, parses, bits, everyMs, next }) => {
    const reading = readCron(text);
    expect(partsOf(reading)).toEqual({ parses, bits, everyMs });
    if (reading.kind === 'unreadable') return;
    expect(next.map(({ afterMs }) => ({ afterMs, hitsMs: hitsAfter(reading.schedule, afterMs) }))).toEqual(next);
  });
});

describe('durations, as Go reads them', () => {
  it.each(durations)('$text', ({ text, ns }) => {
    expect(parseGoDurationMs(text)).toBe(ns === undefined ? undefined : Number(ns) / 1e6);
  });
});

describe('a schedule that cannot be read', () => {
  it.each<[string, string]>([
    [
      '0 0 * * 7',
      'day of week "7" must be 0 to 6 or sun to sat, "*", ranges upwards such as "1-3", steps such as "*/2", lists such as "1,3"',
    ],
    ['61 0 * * *', 'minute "61" must be 0 to 59, "*", ranges upwards'],
    [
      '0 9 * *',
      'must have five fields (minute, hour, day of month, month, day of week) such as "0 9 * * mon-fri", not 4',
    ],
    ['TZ=Europe/Berlin 0 9 * * *', 'must not have a time zone ("TZ=Europe/Berlin"): schedules are in UTC'],
    ['@weeklyish', 'must be one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, or five fields'],
    ['@every day', 'must name a duration such as "@every 1h30m"'],
  ])('"%s" says what would be right', (text, why) => {
    expect(readCron(text)).toMatchObject({ kind: 'unreadable', why: expect.stringContaining(why) });
  });
});

describe('the next hit', () => {
  const afterMs = Date.parse('2026-02-27T23:59:59.999Z');

  it('is after the instant, never at it', () => {
    expect(nextHit(scheduleOf('@daily'), afterMs)).toBe(Date.parse('2026-02-28T00:00:00Z'));
    expect(nextHit(scheduleOf('@daily'), afterMs + 1)).toBe(Date.parse('2026-03-01T00:00:00Z'));
  });

  it('is looked for until the end of the fifth year ahead', () => {
    const leapDay = scheduleOf('0 0 29 2 *');
    expect(nextHit(leapDay, Date.parse('2098-12-31T23:59:58Z'))).toBeUndefined();
    expect(nextHit(leapDay, Date.parse('2099-01-01T00:00:00Z'))).toBe(Date.parse('2104-02-29T00:00:00Z'));
  });
});
