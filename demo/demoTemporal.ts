import type { TemporalSettings } from '../activities/temporal/connection.js';
import { loadTemporalSettings } from '../activities/temporal/connection.js';
import type { DemoOptions } from './options.js';
import { findTemporalCli } from './temporalCli.js';
import { startTemporalServer } from './temporalServer.js';

/** The Temporal that the demo runs on. */
export interface DemoTemporal {
  readonly settings: TemporalSettings;
  /** Undefined where it is somebody else's. */
  readonly uiUrl?: string;
  stop(): Promise<void>;
}

/**
 * A dev server of our own, or the one that is there already.
 * @param tell told before something is fetched, which takes its time
 * @throws UserError when the dev server cannot be had, or the settings of the other one cannot be read
 */
export async function obtainTemporal({ apart }: DemoOptions, tell: (text: string) => void): Promise<DemoTemporal> {
  if (apart !== undefined) return { settings: loadTemporalSettings(), stop: () => Promise.resolve() };
  return startTemporalServer(await findTemporalCli(process.env, tell));
}

/** The line for people that says where the workflows can be seen. */
export function whereToLook({ settings, uiUrl }: DemoTemporal): string {
  return uiUrl === undefined
    ? `Temporal     ${settings.address}, namespace ${settings.namespace}`
    : `Temporal UI  ${uiUrl}/namespaces/${settings.namespace}/workflows`;
}
