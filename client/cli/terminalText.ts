import { wrapText } from './textTable.js';

/** What every terminal has room for. */
const maxColumns = 80;
const gap = '  ';
/** Narrower than this a column says nothing. */
const leastWidth = 12;

/** A column of a table: names are cut only where everything else has been. */
export interface Column {
  readonly head: string;
  readonly isName?: true;
}

/** Facts as lines of a label and a text beside it, which goes on below itself. */
export function factLines(facts: readonly (readonly [label: string, text: string])[]): readonly string[] {
  const width = Math.max(...facts.map(([label]) => label.length));
  return facts.flatMap(([label, text]) =>
    wrapText(text, maxColumns - width - gap.length).map((line, index) =>
      `${(index === 0 ? label : '').padEnd(width)}${gap}${line}`.trimEnd(),
    ),
  );
}

/** A table with one line for each row, of at most 80 columns; what is too long loses its middle: names differ at their ends. */
export function cutTable(columns: readonly Column[], rows: readonly (readonly string[])[]): readonly string[] {
  const all = [columns.map(({ head }) => head), ...rows];
  const widths = columns.map((_, index) => Math.max(...all.map((row) => (row[index] ?? '').length)));
  const order = [false, true].map((isName) =>
    columns.flatMap((column, index) => ((column.isName ?? false) === isName ? [index] : [])),
  );
  for (const indexes of order) shrink(widths, indexes);
  return all.map((row) =>
    widths
      .map((width, index) => cut(row[index] ?? '', width).padEnd(width))
      .join(gap)
      .trimEnd(),
  );
}

/** Takes from the widest of these columns until the table fits, or none has any more to give. */
function shrink(widths: number[], indexes: readonly number[]): void {
  const total = (): number => widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1));
  const widthOf = (index: number): number => widths[index] ?? 0;
  while (total() > maxColumns) {
    const widest = indexes.reduce((a, b) => (widthOf(b) > widthOf(a) ? b : a), indexes[0] ?? 0);
    if (!indexes.includes(widest) || widthOf(widest) <= leastWidth) return;
    widths[widest] = widthOf(widest) - 1;
  }
}

function cut(text: string, width: number): string {
  if (text.length <= width) return text;
  const tail = Math.floor((width - 1) / 2);
  return `${text.slice(0, width - 1 - tail)}…${text.slice(text.length - tail)}`;
}

/** An instant to the second: `2026-01-05T09:00:00Z`. */
export function instantText(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}

/** `45s`, `3m30s`, `2h5m`, `3d2h`: the two largest units. */
export function spanText(durationMs: number): string {
  const seconds = Math.round(durationMs / 1000);
  const units = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3600) % 24],
    ['m', Math.floor(seconds / 60) % 60],
    ['s', seconds % 60],
  ] as const;
  const first = units.findIndex(([, amount]) => amount > 0);
  if (first === -1) return '0s';
  return units
    .slice(first, first + 2)
    .map(([unit, amount]) => (amount > 0 ? `${amount}${unit}` : ''))
    .join('');
}
