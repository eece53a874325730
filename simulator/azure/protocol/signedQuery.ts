import { createHash, randomBytes } from 'node:crypto';

/** Bytes of the three parts that stand for a certificate, a signature and a hash: with base64 about 1 KB, as ARM's URLs look. */
const partBytes = { c: 480, s: 256, h: 32 } as const;

/** Signs operation URLs, so that a client has to take them as they are. */
export class QuerySigner {
  readonly #secret = randomBytes(32);

  /** `t`, `c`, `s` and `h` for an operation. */
  sign(operationId: string, issuedAtMs: number): Readonly<Record<'t' | 'c' | 's' | 'h', string>> {
    const t = String(issuedAtMs);
    return {
      t,
      c: this.#part('c', operationId, t),
      s: this.#part('s', operationId, t),
      h: this.#part('h', operationId, t),
    };
  }

  /** True when nothing that was signed has been changed or left out. */
  verify(operationId: string, query: URLSearchParams): boolean {
    const t = query.get('t');
    if (t === null || query.get('p') !== operationId) return false;
    return (['c', 's', 'h'] as const).every((name) => query.get(name) === this.#part(name, operationId, t));
  }

  #part(name: keyof typeof partBytes, operationId: string, t: string): string {
    return createHash('shake256', { outputLength: partBytes[name] })
      .update(this.#secret)
      .update(`${name} ${operationId} ${t}`)
      .digest('base64url');
  }
}
