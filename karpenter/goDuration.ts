const nsPerUnit: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const nsPerMs = 1e6;
const maxNs = 2n ** 63n - 1n;

const wholePattern = /^([+-]?)(0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const partPattern = /(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g;

/** As many digits as fit into 64 bits: Go passes over the rest. */
function significant(fraction: string): string {
  const longest = fraction.slice(0, 19);
  return BigInt(longest) > maxNs + 1n ? longest.slice(0, -1) : longest;
}

function partNs(whole: string, fraction: string, unitNs: bigint): bigint {
  const digits = significant(fraction);
  // Rounded in the steps in which Go rounds, so that the last nanosecond is the same.
  const fractionNs = Math.trunc(Number(digits) * (Number(unitNs) / 10 ** digits.length));
  return BigInt(whole) * unitNs + BigInt(fractionNs);
}

/**
 * The milliseconds of a duration in the syntax of Go's time.ParseDuration: `1h30m` is 5400000, `-1.5s` is -1500. Finer than a
 * millisecond is kept as a fraction. Undefined when the text is none, or more than the 64 bits of nanoseconds that Go has.
 */
export function parseGoDurationMs(text: string): number | undefined {
  const [, sign, parts] = wholePattern.exec(text) ?? [];
  if (parts === undefined) return undefined;
  let totalNs = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of parts.matchAll(partPattern)) {
    totalNs += partNs(whole, fraction, nsPerUnit.get(unit) ?? 0n);
  }
  const isNegative = sign === '-';
  if (totalNs > (isNegative ? maxNs + 1n : maxNs)) return undefined;
  const ms = Number(totalNs) / nsPerMs;
  return isNegative && ms !== 0 ? -ms : ms;
}
