const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

/** Reads a decimal number of 64 bits with an optional sign, as Go's strconv.Atoi does; undefined when it is none. */
export function parseGoInteger(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text);
  return value < minInt64 || value > maxInt64 ? undefined : value;
}
