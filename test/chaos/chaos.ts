import { describe, expect, it } from '@jest/globals';

import { findTemporalCli } from '../../demo/temporalCli.js';
import { errorMessage } from '../../runtime/errors.js';
import { readChaosOptions } from './options.js';
import { drawPlan } from './plan.js';
import { lineOf, replayOf, totalOf } from './report.js';
import type { RunReport } from './run.js';
import { runPlan } from './run.js';

const { firstSeed, leastSeeds, forMs, lanes, cluster } = readChaosOptions(process.env);
/** No run takes longer, on however slow a machine. */
const longestRunMs = 30 * 60_000;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

describe('a rollout under chaos', () => {
  it(
    'keeps all six invariants, whatever is killed, refused, lost or slow',
    async () => {
      const temporalCli = await findTemporalCli(process.env, say);
      const startedMs = performance.now();
      const endMs = startedMs + forMs;
      const reports: RunReport[] = [];
      const problems: string[] = [];
      let nextSeed = firstSeed;
      const runLane = async (): Promise<void> => {
        while (nextSeed < firstSeed + leastSeeds || performance.now() < endMs) {
          const seed = nextSeed;
          nextSeed += 1;
          try {
            const report = await runPlan(drawPlan(seed), temporalCli, cluster, say);
            reports.push(report);
            say(lineOf(report));
            problems.push(...replayOf(report));
            for (const line of replayOf(report)) say(line);
          } catch (error) {
            // The others are run all the same: a long run is worth more than its first accident.
            problems.push(`seed ${seed}: could not be run: ${errorMessage(error)}`);
            say(problems.at(-1) ?? '');
          }
        }
      };
      await Promise.all(Array.from({ length: lanes }, runLane));
      say(totalOf(reports, performance.now() - startedMs));
      expect(problems).toEqual([]);
    },
    forMs + (leastSeeds + 1) * longestRunMs,
  );
});
