/** Where a simulator listens. */
export interface ListenOptions {
  /** The name under which clients reach it, and the address behind it on which it listens. Default: 127.0.0.1. */
  readonly host?: string;
  /** 0 or absent: any free one. */
  readonly port?: number;
}
