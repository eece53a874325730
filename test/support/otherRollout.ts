import { condition, proxyActivities, setHandler } from '@temporalio/workflow';

import type { SweepActivities } from '../../workflows/activityInterfaces.js';
import { pokeSignal } from '../../workflows/messages.js';
import type { RolloutInput } from '../../workflows/rolloutState.js';

const { sweep } = proxyActivities<SweepActivities>({ startToCloseTimeout: '1 minute' });

/** Not what the rollout does: the real one cannot go on with its history. */
export async function nodePoolRollout({ cluster }: RolloutInput): Promise<void> {
  setHandler(pokeSignal, () => undefined);
  await sweep({ cluster });
  await condition(() => false);
}
