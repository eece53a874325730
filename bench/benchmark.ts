import type { Log } from '../runtime/log.js';

/** What a measurement is given. */
export interface BenchmarkContext {
  /** A line for people while it runs. */
  readonly say: (line: string) => void;
  readonly log: Log;
}

/** What a measurement found: ratios of what was measured in the same run, and the absolute figures of that run. */
export interface Outcome {
  /** Name and value, a line each. */
  readonly figures: readonly (readonly [name: string, value: string])[];
  /** What is not as promised; empty when all is. */
  readonly problems: readonly string[];
}

export interface Benchmark {
  readonly name: string;
  readonly description: string;
  run(context: BenchmarkContext): Promise<Outcome>;
}

const bytesPerMegabyte = 1024 * 1024;

export function megabytes(bytes: number): string {
  return `${(bytes / bytesPerMegabyte).toFixed(1)} MiB`;
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [below = NaN, above = NaN] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]];
  return (below + above) / 2;
}
