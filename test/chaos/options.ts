/** What to run, from CHAOS_SEED (one seed), CHAOS_SEEDS (how many), CHAOS_FIRST_SEED and CHAOS_MINUTES (how long new runs begin). */
export interface ChaosOptions {
  readonly seeds: Iterable<number>;
  readonly budgetMs: number;
}

const defaultMinutes = 12;

function readNumber(environment: NodeJS.ProcessEnv, name: string): number | undefined {
  const text = environment[name];
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} is ${text}: it must be a whole number from 1`);
  return value;
}

function* count(first: number, seeds: number): Iterable<number> {
  for (let seed = first; seed < first + seeds; seed += 1) yield seed;
}

/** @throws Error that names the variable and what would be right */
export function readChaosOptions(environment: NodeJS.ProcessEnv): ChaosOptions {
  const seed = readNumber(environment, 'CHAOS_SEED');
  const seeds = readNumber(environment, 'CHAOS_SEEDS') ?? Infinity;
  const minutes = readNumber(environment, 'CHAOS_MINUTES') ?? defaultMinutes;
  const first = readNumber(environment, 'CHAOS_FIRST_SEED') ?? 1;
  return { seeds: seed === undefined ? count(first, seeds) : [seed], budgetMs: minutes * 60_000 };
}
