import { log } from '@temporalio/activity';
import { z } from 'zod';

import type { InstanceType } from '../karpenter/instanceType.js';
import type { Offering } from '../karpenter/offering.js';
import type { UnavailableMark } from '../karpenter/unavailableOfferings.js';
import { findMark, markKey, parseMarkKey } from '../karpenter/unavailableOfferings.js';
import { errorMessage } from '../runtime/errors.js';
import type { ActivityEnvironment } from './environment.js';
import type { ConfigMapData } from './kubernetes/configMaps.js';
import { readConfigMap, updateConfigMap } from './kubernetes/configMaps.js';

/** What all workers know of offerings that Azure could not give; nothing else reads it, and it may be deleted at any time. */
const configMap = { namespace: 'kube-system', name: 'driftless-unavailable-offerings' };

const valueSchema = z.object({ until: z.iso.datetime(), code: z.string() });

function parseMark(key: string, text: string): UnavailableMark | undefined {
  const parts = parseMarkKey(key);
  const value = valueSchema.safeParse(parseJson(text));
  if (parts === undefined || !value.success) return undefined;
  return { ...parts, untilMs: Date.parse(value.data.until), code: value.data.code };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Whoever wrote it, it is no mark.
    return undefined;
  }
}

function parseMarks(data: ConfigMapData): readonly UnavailableMark[] {
  return Object.entries(data)
    .map(([key, text]) => parseMark(key, text))
    .filter((mark) => mark !== undefined);
}

/** The live marks, expired ones too. When they cannot be read that is logged, and nothing is taken for unavailable. */
export async function readUnavailableOfferings({
  kubernetes,
}: ActivityEnvironment): Promise<readonly UnavailableMark[]> {
  try {
    return parseMarks(await readConfigMap(kubernetes, configMap));
  } catch (error) {
    log.warn('the unavailable offerings could not be read', { error: errorMessage(error) });
    return [];
  }
}

/** The mark that forbids an offering at this moment, if there is one. What cannot be read forbids nothing. */
export async function findUnavailable(
  environment: ActivityEnvironment,
  offering: Offering,
): Promise<UnavailableMark | undefined> {
  const marks = await readUnavailableOfferings(environment);
  if (marks.length === 0) return undefined;
  return findMark(marks, offering, await instanceTypesByName(environment), Date.now());
}

async function instanceTypesByName({ resourceSkus }: ActivityEnvironment): Promise<ReadonlyMap<string, InstanceType>> {
  try {
    return new Map((await resourceSkus.list()).map((instanceType) => [instanceType.name, instanceType]));
  } catch (error) {
    log.warn('a mark holds for its own VM size only', { error: errorMessage(error) });
    return new Map();
  }
}

/** A mark that would last hardly longer than the one that is there is not written: many fail at once where there is no room. */
const sameMs = 60_000;

/** Tells all workers what not to ask for, and forgets what has expired. When that cannot be written it is logged: it costs an attempt. */
export async function markUnavailable({ kubernetes }: ActivityEnvironment, mark: UnavailableMark): Promise<void> {
  const { code, untilMs } = mark;
  const key = markKey(mark);
  const until = new Date(untilMs).toISOString();
  log.info('offering is unavailable', { offering: key, code, until });
  try {
    await updateConfigMap(kubernetes, configMap, (data) => {
      const known = parseMark(key, data[key] ?? '');
      if (known !== undefined && known.untilMs > untilMs - sameMs) return undefined;
      return { ...withoutExpired(data), [key]: JSON.stringify({ until, code }) };
    });
  } catch (error) {
    log.warn('the unavailable offerings could not be written', { error: errorMessage(error) });
  }
}

/** Takes out what has expired, and what is no mark. */
function withoutExpired(data: ConfigMapData): Readonly<Record<string, null>> {
  const nowMs = Date.now();
  const isOver = ([key, text]: readonly [string, string]): boolean => (parseMark(key, text)?.untilMs ?? 0) <= nowMs;
  return Object.fromEntries(
    Object.entries(data)
      .filter(isOver)
      .map(([key]) => [key, null]),
  );
}
