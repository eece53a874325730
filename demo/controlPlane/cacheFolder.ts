import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where what was fetched or built once is kept for later runs: `driftless/<parts>` in the user's cache folder. */
export function cacheFolder(environment: NodeJS.ProcessEnv, ...parts: readonly string[]): string {
  return join(environment.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'driftless', ...parts);
}
