/** Something that the person who started the process has to put right: shown as one line, exit code 1, no stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
}

/** The message of anything thrown, and of its causes, in one line. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `: ${errorMessage(error.cause)}`;
  return `${error.message}${cause}`;
}
