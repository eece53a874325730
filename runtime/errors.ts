/** Something that the person who started the process has to put right: shown as one line, exit code 1, no stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
}

/** The message of anything thrown, and of its causes unless it quotes them, in one line. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause === undefined) return error.message;
  const cause = errorMessage(error.cause);
  return error.message.includes(cause) ? error.message : `${error.message}: ${cause}`;
}
