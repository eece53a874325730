/** A Markdown table. Cells are one line; a `|` in them would end the cell. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** `12:34:56.7` in UTC. */
export function clockTime(atMs: number): string {
  return new Date(atMs).toISOString().slice(11, 21);
}

/** `0.3 s`, `95.0 s`, `12 min`. */
export function durationText(durationMs: number): string {
  return durationMs < 600_000 ? `${(durationMs / 1000).toFixed(1)} s` : `${(durationMs / 60_000).toFixed(0)} min`;
}
