import { Argument, Command } from 'commander';

import { errorMessage, UserError } from '../runtime/errors.js';
import { createLog } from '../runtime/log.js';
import { installTemporalRuntime } from '../worker/temporalRuntime.js';
import type { Benchmark, Outcome } from './benchmark.js';
import { clusterSize } from './clusterSize.js';
import { informerReconnects } from './informerReconnects.js';
import { describeMachine } from './machine.js';
import { rollingRestart } from './rollingRestart.js';

const benchmarks: readonly Benchmark[] = [informerReconnects, rollingRestart, clusterSize];

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function tell({ name }: Benchmark, { figures, problems }: Outcome): void {
  const width = Math.max(...figures.map(([figure]) => figure.length));
  for (const [figure, value] of figures) say(`  ${figure.padEnd(width)}  ${value}`);
  for (const problem of problems) say(`${name}: ${problem}`);
}

/** Runs the benchmarks one after the other. Answers whether all of them found what is promised. */
async function runAll(chosen: readonly Benchmark[]): Promise<boolean> {
  const log = createLog('bench', 'error');
  installTemporalRuntime(log);
  let isFine = true;
  for (const benchmark of chosen) {
    say(`${benchmark.name}: ${benchmark.description}`);
    say(`  ${describeMachine()}`);
    const outcome = await benchmark.run({
      say: (line) => {
        say(`  ${line}`);
      },
      log,
    });
    tell(benchmark, outcome);
    isFine &&= outcome.problems.length === 0;
  }
  return isFine;
}

const names = benchmarks.map(({ name }) => name);
const program = new Command('bench')
  .description('Measure Driftless. Without a name: everything. Exit code 1 when a figure is not as promised.')
  .addArgument(new Argument('[names...]', 'what to measure').choices(names))
  .action(async (chosen: readonly string[]) => {
    const wanted = benchmarks.filter(({ name }) => chosen.length === 0 || chosen.includes(name));
    process.exitCode = (await runAll(wanted)) ? 0 : 1;
  });

try {
  await program.parseAsync();
} catch (error) {
  const text =
    error instanceof UserError || !(error instanceof Error) ? errorMessage(error) : (error.stack ?? error.message);
  process.stderr.write(`bench: ${text}\n`);
  process.exitCode = 1;
}
// As in bin/: Temporal's native runtime would keep the process alive.
process.exit();
