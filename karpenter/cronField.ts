import { parseGoInteger } from './goInteger.js';

/** What one field of a schedule may hold. */
export interface CronBounds {
  readonly field: string;
  readonly min: number;
  readonly max: number;
  /** Names for the values from `min` on, in lower case. */
  readonly names: readonly string[];
}

export const minuteBounds: CronBounds = { field: 'minute', min: 0, max: 59, names: [] };
export const hourBounds: CronBounds = { field: 'hour', min: 0, max: 23, names: [] };
export const dayOfMonthBounds: CronBounds = { field: 'day of month', min: 1, max: 31, names: [] };
export const monthBounds: CronBounds = {
  field: 'month',
  min: 1,
  max: 12,
  names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
};
export const dayOfWeekBounds: CronBounds = {
  field: 'day of week',
  min: 0,
  max: 6,
  names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
};

/** The values of one field. */
export interface CronField {
  readonly values: ReadonlySet<number>;
  /** Whether the field is a star, or has one in its list: that decides how the two fields of days go together. */
  readonly hasStar: boolean;
}

function parseNumber(text: string): number | undefined {
  const value = parseGoInteger(text);
  return value === undefined || value < 0n ? undefined : Number(value);
}

function parseValue(text: string, { min, names }: CronBounds): number | undefined {
  const index = names.indexOf(text.toLowerCase());
  return index === -1 ? parseNumber(text) : min + index;
}

interface ValueRange {
  readonly from: number;
  readonly to: number;
  readonly hasStar: boolean;
}

/** `*`, `5`, `1-5`; a single value with a step, `5/10`, runs to the end of the field. */
function parseRange(text: string, bounds: CronBounds, hasStep: boolean): ValueRange | undefined {
  const { min, max } = bounds;
  const [low = '', high, ...more] = text.split('-');
  // robfig/cron ignores what follows a star, as in "*-5".
  if (low === '*' || low === '?') return { from: min, to: max, hasStar: true };
  const from = parseValue(low, bounds);
  const to = high === undefined ? (hasStep ? max : from) : parseValue(high, bounds);
  if (from === undefined || to === undefined || more.length > 0) return undefined;
  return from < min || to > max || from > to ? undefined : { from, to, hasStar: false };
}

function parseSteppedRange(text: string, bounds: CronBounds): CronField | undefined {
  const [rangeText = '', stepText, ...more] = text.split('/');
  const range = parseRange(rangeText, bounds, stepText !== undefined);
  const step = stepText === undefined ? 1 : parseNumber(stepText);
  if (range === undefined || step === undefined || step === 0 || more.length > 0) return undefined;
  const values = new Set<number>();
  for (let value = range.from; value <= range.to; value += step) values.add(value);
  // "*/1" is still a star, "*/2" is none.
  return { values, hasStar: range.hasStar && step === 1 };
}

/**
 * The values of one field; undefined when the text cannot be read. Empty parts of a list are passed over, so that "," is a field
 * without any value.
 */
export function parseCronField(text: string, bounds: CronBounds): CronField | undefined {
  const values = new Set<number>();
  let hasStar = false;
  for (const part of text.split(',').filter((each) => each !== '')) {
    const field = parseSteppedRange(part, bounds);
    if (field === undefined) return undefined;
    for (const value of field.values) values.add(value);
    hasStar ||= field.hasStar;
  }
  return { values, hasStar };
}

/** What the field takes, in words for people. */
export function describeBounds({ min, max, names }: CronBounds): string {
  const named = names.length === 0 ? '' : ` or ${names[0] ?? ''} to ${names.at(-1) ?? ''}`;
  return `${min} to ${max}${named}, "*", ranges upwards such as "${min + 1}-${min + 3}", steps such as "*/2", lists such as "${min + 1},${min + 3}"`;
}
