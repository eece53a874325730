/** Something that the person who started the process has to put right: shown as one line, exit code 1, no stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
}

/** The message of anything thrown, and of its causes unless it quotes them, in one line. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return firstLine(String(error));
  const message = firstLine(error.message);
  if (error.cause === undefined) return message;
  const cause = errorMessage(error.cause);
  return message.includes(cause) ? message : `${message}: ${cause}`;
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
