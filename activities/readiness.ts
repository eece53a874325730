import type { Connection } from '@temporalio/client';

import type { TemporalSettings } from './temporal/connection.js';
import { whyUnreachable } from './temporal/connection.js';

/** A copy of what is in the cluster. */
interface Watched {
  /** Since when and why it is not kept up to date; undefined: it is. */
  readonly whyBehind: string | undefined;
}

/** Why a process that lives on these copies and on Temporal cannot do its work, in a line; undefined: it can. */
export async function whyCutOff(
  watched: readonly Watched[],
  connection: Connection,
  temporal: TemporalSettings,
): Promise<string | undefined> {
  const behind = watched.map(({ whyBehind }) => whyBehind).filter((why) => why !== undefined);
  const unreachable = await whyUnreachable(connection, temporal);
  const all = unreachable === undefined ? behind : [unreachable, ...behind];
  return all.length === 0 ? undefined : all.join('; ');
}
