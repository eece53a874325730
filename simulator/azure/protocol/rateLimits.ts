import type { SimulatedClock } from '../clock.js';

/** Requests that Microsoft.Compute counts together; the numbers are allowed in 3 and in 30 minutes. */
const buckets = {
  PutVM: { in3Minutes: 240, in30Minutes: 1_200 },
  DeleteVM: { in3Minutes: 240, in30Minutes: 1_200 },
  LowCostGet: { in3Minutes: 4_000, in30Minutes: 32_000 },
  HighCostGet: { in3Minutes: 300, in30Minutes: 1_500 },
  GetOperation: { in3Minutes: 15_000, in30Minutes: 60_000 },
} as const;
export type RateLimitBucket = keyof typeof buckets;

/** Counts down what remains, as ARM reports it. It refuses nothing: throttling is a fault that a test asks for. */
export class RateLimits {
  readonly #windows = new Map<string, { readonly window: number; readonly used: number }>();

  constructor(private readonly clock: SimulatedClock) {}

  /** Counts one request, and answers the header that tells what remains. */
  count(bucket: RateLimitBucket): Record<string, string> {
    const { in3Minutes, in30Minutes } = buckets[bucket];
    const remaining3 = this.#remaining(bucket, 3, in3Minutes);
    const remaining30 = this.#remaining(bucket, 30, in30Minutes);
    return {
      'x-ms-ratelimit-remaining-resource': `Microsoft.Compute/${bucket}3Min;${remaining3},Microsoft.Compute/${bucket}30Min;${remaining30}`,
    };
  }

  #remaining(bucket: RateLimitBucket, windowMinutes: number, limit: number): number {
    const window = Math.floor(this.clock.elapsedMs / (windowMinutes * 60_000));
    const key = `${bucket}${windowMinutes}Min`;
    const current = this.#windows.get(key);
    const used = current?.window === window ? current.used + 1 : 1;
    this.#windows.set(key, { window, used });
    return Math.max(0, limit - used);
  }
}
