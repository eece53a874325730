import type { ClusterKind } from './chaosCluster.js';
import { clusterKinds } from './chaosCluster.js';

/** Which seeds to run, and on what. */
export interface ChaosOptions {
  readonly firstSeed: number;
  /** So many seeds are run in any case. */
  readonly leastSeeds: number;
  /** Further ones begin until so much time has passed. */
  readonly forMs: number;
  /** So many run at once: a run mostly waits. */
  readonly lanes: number;
  readonly cluster: ClusterKind;
}

const defaultSeeds = 25;
const defaultMinutes = 12;
const defaultLanes = 2;

function readNumber(environment: NodeJS.ProcessEnv, name: string): number | undefined {
  const text = environment[name];
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new Error(`${name} is ${text}: it must be a whole number`);
  return value;
}

function readClusterKind({ CHAOS_CLUSTER: text = '' }: NodeJS.ProcessEnv): ClusterKind {
  if (text === '') return 'in-memory';
  const kind = clusterKinds.find((each) => each === text);
  if (kind === undefined) throw new Error(`CHAOS_CLUSTER is ${text}: it must be ${clusterKinds.join(' or ')}`);
  return kind;
}

/**
 * CHAOS_SEED runs that seed alone; else CHAOS_SEEDS seeds at the least (25), as many as begin within CHAOS_MINUTES (12), from
 * CHAOS_FIRST_SEED (1) on, CHAOS_LANES (2) of them at once. CHAOS_CLUSTER says on which
 * API server: `in-memory` or `real`.
 * @throws Error that names the variable and what would be right
 */
export function readChaosOptions(environment: NodeJS.ProcessEnv): ChaosOptions {
  const cluster = readClusterKind(environment);
  const seed = readNumber(environment, 'CHAOS_SEED');
  if (seed !== undefined) return { firstSeed: seed, leastSeeds: 1, forMs: 0, lanes: 1, cluster };
  return {
    firstSeed: readNumber(environment, 'CHAOS_FIRST_SEED') ?? 1,
    leastSeeds: readNumber(environment, 'CHAOS_SEEDS') ?? defaultSeeds,
    forMs: (readNumber(environment, 'CHAOS_MINUTES') ?? defaultMinutes) * 60_000,
    lanes: Math.max(1, readNumber(environment, 'CHAOS_LANES') ?? defaultLanes),
    cluster,
  };
}
