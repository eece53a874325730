import { ApplicationFailure } from '@temporalio/common';

import type { Pod } from '../../karpenter/api.js';
import type { DrainStep } from '../../karpenter/drain.js';
import { isBare } from '../../karpenter/drain.js';
import { doNotDisruptAnnotation } from '../../karpenter/labels.js';
import { evictionRefusedWhy } from '../../karpenter/podDisruptionBudgets.js';
import { failureTypes } from '../../workflows/failures.js';
import type { ActivityEnvironment } from '../environment.js';
import type { Eviction } from '../kubernetes/pods.js';
import { deletePod, evictPod } from '../kubernetes/pods.js';
import { PausedError } from '../kubernetes/request.js';
import type { DrainJournal } from './journal.js';

interface Answer {
  readonly pod: Pod;
  readonly eviction: Eviction;
}

/**
 * Asks for all evictions and deletions of a step at once, but for pods that were refused a short while ago, and notes the answers.
 * @returns how many pods are on their way out by that
 * @throws ApplicationFailure Forbidden, after all have been asked for, when we lack the right
 */
export async function requestEvictions(
  environment: ActivityEnvironment,
  step: DrainStep,
  journal: DrainJournal,
  nowMs: number,
): Promise<number> {
  const { kubernetes } = environment;
  for (const pod of step.protected) noteProtected(journal, pod, nowMs);
  const due = step.evict.filter((pod) => journal.isDue(pod, nowMs));
  const answers = await Promise.all([
    ...due.map(async (pod): Promise<Answer> => ({ pod, eviction: await evictPod(kubernetes, pod) })),
    ...step.forceDelete.map(async ({ pod, graceSeconds }): Promise<Answer> => {
      return { pod, eviction: await deletePod(kubernetes, pod, graceSeconds) };
    }),
  ]);
  for (const answer of answers) noteAnswer(environment, journal, answer, nowMs);
  const paused = answers.map(({ eviction }) => eviction).find(({ kind }) => kind === 'paused');
  if (paused?.kind === 'paused') throw new PausedError(paused.why);
  const forbidden = answers.map(({ eviction }) => eviction).find(({ kind }) => kind === 'forbidden');
  if (forbidden?.kind === 'forbidden') throw ApplicationFailure.nonRetryable(forbidden.why, failureTypes.forbidden);
  return answers.filter(({ eviction: { kind } }) => kind === 'accepted' || kind === 'gone').length;
}

function noteProtected(journal: DrainJournal, pod: Pod, nowMs: number): void {
  const value = pod.metadata.annotations?.[doNotDisruptAnnotation] ?? '';
  const why = `it is annotated ${doNotDisruptAnnotation}: "${value}"`;
  journal.noteObstacle(pod, { kind: 'doNotDisrupt', why }, { nowMs, baseMs: 0 });
}

function noteAnswer(
  { podDisruptionBudgets, settings }: ActivityEnvironment,
  journal: DrainJournal,
  { pod, eviction }: Answer,
  nowMs: number,
): void {
  const pace = { nowMs, baseMs: settings.replacement.waitIntervalMs };
  switch (eviction.kind) {
    case 'accepted':
      journal.noteEvictionBegan();
      journal.clearObstacle(pod);
      if (isBare(pod)) journal.noteBare(pod);
      return;
    case 'gone':
      journal.clearObstacle(pod);
      return;
    case 'refused':
    case 'busy': {
      const kind = eviction.kind === 'refused' ? 'disruptionBudget' : 'passing';
      const { why, retryAfterMs } = eviction;
      journal.noteObstacle(pod, { kind, why }, { ...pace, retryAfterMs });
      return;
    }
    case 'going':
      journal.noteObstacle(pod, { kind: 'passing', why: 'its namespace is being deleted' }, pace);
      return;
    case 'unanswered':
      journal.noteEvictionBegan();
      journal.noteObstacle(pod, { kind: 'passing', why: eviction.why }, pace);
      return;
    case 'severalBudgets': {
      // The API server does not say which budgets these are.
      const why = evictionRefusedWhy(pod, podDisruptionBudgets.list()) ?? eviction.why;
      journal.noteObstacle(pod, { kind: 'disruptionBudget', why }, pace);
      return;
    }
    // These end the attempt.
    case 'paused':
    case 'forbidden':
      return;
  }
}
