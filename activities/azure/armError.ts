/** ARM refused a request, or did not answer it. */
export class ArmError extends Error {
  override readonly name = 'ArmError';

  constructor(
    message: string,
    /** The HTTP status; undefined when no answer came. */
    readonly status: number | undefined,
    /** Azure's code from the answer's body, e.g. `SkuNotAvailable`; empty when there was none. */
    readonly code: string,
    /** How long Azure asks to wait before the next try, in milliseconds. */
    readonly retryAfterMs: number | undefined,
    /** Azure's own message, from the answer's body. */
    readonly azureMessage = '',
  ) {
    super(message);
  }
}
