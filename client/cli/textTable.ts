/** As many columns as every terminal has. */
const lineWidth = 80;
/** The last column is never narrower, however long what stands before it. */
const narrowestText = 24;
const gap = '  ';

/** Breaks a text at its spaces, and a word that is longer than a line wherever it has to. */
export function wrapText(text: string, width = lineWidth): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    for (; line.length > width; line = line.slice(width)) lines.push(line.slice(0, width));
  }
  return [...lines, line];
}

/** A table for terminals: the last cell of a row goes on below where it is too long for the line. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const all = [head.map((title) => title.toUpperCase()), ...rows];
  const widths = head.slice(0, -1).map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const indent = widths.reduce((sum, width) => sum + width + gap.length, 0);
  const textWidth = Math.max(narrowestText, lineWidth - indent);
  return all.flatMap((row) => {
    const cells = widths.map((width, column) => (row[column] ?? '').padEnd(width));
    const [first, ...more] = wrapText(row[widths.length] ?? '', textWidth);
    return [[...cells, first].join(gap).trimEnd(), ...more.map((text) => `${' '.repeat(indent)}${text}`)];
  });
}
