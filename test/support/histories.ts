import { temporal } from '@temporalio/proto';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const { History } = temporal.api.history.v1;
export type History = temporal.api.history.v1.IHistory;

/** The stored histories; each is a file in test/histories. */
export const historyNames = [
  'rollout',
  'rolloutWithRetry',
  'rolloutContinued',
  'rolloutPaused',
  'replacement',
  'replacementLaunchFailed',
  'replacementCanceled',
  'replacementEmpty',
  'replacementAdopted',
  'replacementNotNeeded',
  'replacementDrainFailed',
  'replacementPaused',
  'sweep',
] as const;
export type HistoryName = (typeof historyNames)[number];

function historyPath(name: HistoryName): string {
  return fileURLToPath(new URL(`../histories/${name}.json`, import.meta.url));
}

/** The text of a stored history. */
export async function readHistory(name: HistoryName): Promise<string> {
  return await readFile(historyPath(name), 'utf8');
}

/** @param text what readHistory has read */
export function parseHistory(text: string): History {
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== 'object' || parsed === null) throw new Error('a history is an object');
  return History.fromObject(parsed);
}

/**
 * Stores a history as JSON the way protobufjs writes it. The SDK's historyToJSON and historyFromJSON would be the usual one; they
 * throw where npm has installed protobufjs more than once.
 */
export async function writeHistory(name: HistoryName, history: History): Promise<void> {
  const path = historyPath(name);
  // Stack traces hold the paths of whoever recorded; a replay does not look at them.
  const text = JSON.stringify(History.fromObject(history), (key, value: unknown) =>
    key === 'stackTrace' ? undefined : value,
  );
  await writeFile(path, await format(text, { ...(await resolveConfig(path)), filepath: path }));
}
