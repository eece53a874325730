import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** The compiled `driftless`. */
export const driftlessPath = fileURLToPath(new URL('../../dist/bin/driftless.js', import.meta.url));
const usualKillAfterMs = 60_000;

/** How a run of the command ended. */
export interface Ended {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Variables that would change what the command does; PATH and the like stay as they are. */
function inheritedEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(DRIFTLESS_|TEMPORAL_|AZURE_|KUBE|NODE_OPTIONS)/.test(name),
  );
  return Object.fromEntries(entries);
}

/**
 * Runs `driftless` as a process of its own, compiled, until it ends.
 * @param killAfterMs a command that hangs is killed, and the test fails for its signal
 */
export async function runDriftless(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  killAfterMs = usualKillAfterMs,
): Promise<Ended> {
  const child = spawn(process.execPath, [driftlessPath, ...args], {
    env: { ...inheritedEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: killAfterMs,
    killSignal: 'SIGKILL',
  });
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await closed;
  return { exitCode: child.exitCode, signal: child.signalCode, stdout, stderr };
}
