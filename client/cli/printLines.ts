/** What a command answers. */
export function printLines(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}
