/** Temporal refuses a summary of more than 400 bytes, its encoding included, and with it the start of the workflow. */
const maxBytes = 350;

/** A text as Temporal takes it for a summary: one line, cut where it is too long. */
export function summaryText(text: string): string {
  const characters = Array.from(text.replaceAll(/\s+/g, ' '));
  let bytes = 0;
  const end = characters.findIndex((character) => {
    bytes += new TextEncoder().encode(JSON.stringify(character)).length - '""'.length;
    return bytes > maxBytes;
  });
  return end === -1 ? characters.join('') : `${characters.slice(0, end).join('')}…`;
}
