import type { CronBounds, CronField } from './cronField.js';
import {
  dayOfMonthBounds,
  dayOfWeekBounds,
  describeBounds,
  hourBounds,
  minuteBounds,
  monthBounds,
  parseCronField,
} from './cronField.js';
import { parseGoDurationMs } from './goDuration.js';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
/** robfig/cron looks no further for the next hit. */
const yearsAhead = 5;

/** Hits at certain minutes of certain days in UTC. */
export interface CalendarSchedule {
  readonly kind: 'calendar';
  readonly minute: CronField;
  readonly hour: CronField;
  readonly dayOfMonth: CronField;
  readonly month: CronField;
  readonly dayOfWeek: CronField;
  /** The hits of a day that matches, ascending, in milliseconds after midnight. */
  readonly timesOfDayMs: readonly number[];
}

/** Hits once, so many milliseconds (whole seconds) after the instant that is asked for. */
export interface EverySchedule {
  readonly kind: 'every';
  readonly delayMs: number;
}

export type CronSchedule = CalendarSchedule | EverySchedule;

export type CronReading =
  | { readonly kind: 'schedule'; readonly schedule: CronSchedule }
  /** With what would be right, in words for people. */
  | { readonly kind: 'unreadable'; readonly why: string };

const fieldBounds: readonly CronBounds[] = [minuteBounds, hourBounds, dayOfMonthBounds, monthBounds, dayOfWeekBounds];

const descriptors: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);
const none: CronField = { values: new Set(), hasStar: false };
const everyPrefix = '@every ';

/** What Go takes as white space: not quite what `\s` is in JavaScript. */
const goSpaces = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

function timesOfDay(minute: CronField, hour: CronField): number[] {
  const times = [...hour.values].flatMap((h) => [...minute.values].map((m) => h * hourMs + m * minuteMs));
  return times.sort((a, b) => a - b);
}

function unreadable(why: string): CronReading {
  return { kind: 'unreadable', why };
}

function readFields(texts: readonly string[]): CronReading {
  const fields: CronField[] = [];
  for (const [index, bounds] of fieldBounds.entries()) {
    const text = texts[index] ?? '';
    const field = parseCronField(text, bounds);
    if (field === undefined) return unreadable(`${bounds.field} "${text}" must be ${describeBounds(bounds)}`);
    fields.push(field);
  }
  const [minute = none, hour = none, dayOfMonth = none, month = none, dayOfWeek = none] = fields;
  const timesOfDayMs = timesOfDay(minute, hour);
  return {
    kind: 'schedule',
    schedule: { kind: 'calendar', minute, hour, dayOfMonth, month, dayOfWeek, timesOfDayMs },
  };
}

function readDescriptor(text: string): CronReading {
  const fields = descriptors.get(text);
  if (fields !== undefined) return readFields(fields.split(' '));
  if (!text.startsWith(everyPrefix)) {
    return unreadable(`must be one of ${[...descriptors.keys()].join(', ')}, or five fields such as "0 9 * * mon-fri"`);
  }
  const durationMs = parseGoDurationMs(text.slice(everyPrefix.length));
  if (durationMs === undefined) return unreadable('must name a duration such as "@every 1h30m"');
  const delayMs = Math.max(secondMs, Math.trunc(durationMs / secondMs) * secondMs);
  return { kind: 'schedule', schedule: { kind: 'every', delayMs } };
}

/**
 * Reads a schedule in the dialect of robfig/cron v3's standard parser, in UTC: five fields, or a descriptor such as `@daily`. As
 * Karpenter puts a `TZ=UTC` of its own before it, a schedule with a time zone cannot be read.
 */
export function readCron(text: string): CronReading {
  const fields = text.split(goSpaces).filter((field) => field !== '');
  const [first = ''] = fields;
  const last = fields.at(-1) ?? '';
  if (first.startsWith('@'))
    return readDescriptor(text.slice(text.indexOf(first), text.lastIndexOf(last) + last.length));
  if (/^(?:CRON_)?TZ=/.test(first)) return unreadable(`must not have a time zone ("${first}"): schedules are in UTC`);
  if (fields.length !== fieldBounds.length) {
    const names = fieldBounds.map(({ field }) => field).join(', ');
    return unreadable(`must have five fields (${names}) such as "0 9 * * mon-fri", not ${fields.length}`);
  }
  return readFields(fields);
}

function isDayOf({ dayOfMonth, month, dayOfWeek }: CalendarSchedule, date: Date): boolean {
  if (!month.values.has(date.getUTCMonth() + 1)) return false;
  const isDayOfMonth = dayOfMonth.values.has(date.getUTCDate());
  const isDayOfWeek = dayOfWeek.values.has(date.getUTCDay());
  // Two restrictions mean either of them; with a star in one, both have to hold.
  const hasStar = dayOfMonth.hasStar || dayOfWeek.hasStar;
  return hasStar ? isDayOfMonth && isDayOfWeek : isDayOfMonth || isDayOfWeek;
}

function nextCalendarHit(schedule: CalendarSchedule, fromMs: number): number | undefined {
  const lastYear = new Date(fromMs).getUTCFullYear() + yearsAhead;
  let date = new Date(Math.floor(fromMs / dayMs) * dayMs);
  while (date.getUTCFullYear() <= lastYear) {
    const midnightMs = date.getTime();
    if (isDayOf(schedule, date)) {
      const timeMs = schedule.timesOfDayMs.find((time) => midnightMs + time >= fromMs);
      if (timeMs !== undefined) return midnightMs + timeMs;
    }
    date = new Date(midnightMs + dayMs);
  }
  return undefined;
}

/**
 * The first hit after an instant, both in epoch milliseconds; hits are on whole seconds. Undefined when there is none until the end
 * of the fifth year ahead, as for 30 February.
 */
export function nextHit(schedule: CronSchedule, afterMs: number): number | undefined {
  const secondStartMs = Math.floor(afterMs / secondMs) * secondMs;
  switch (schedule.kind) {
    case 'every':
      return secondStartMs + schedule.delayMs;
    case 'calendar':
      return nextCalendarHit(schedule, secondStartMs + secondMs);
  }
}
