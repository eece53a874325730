import { describe, expect, it } from '@jest/globals';

import { findTemporalCli } from '../../demo/temporalCli.js';
import { errorMessage } from '../../runtime/errors.js';
import { readChaosOptions } from './options.js';
import { drawPlan } from './plan.js';
import { lineOf, replayOf, totalOf } from './report.js';
import type { RunReport } from './run.js';
import { runPlan } from './run.js';

const options = readChaosOptions(process.env);
/** The last run may begin just before the time is up. */
const lastRunMs = 20 * 60_000;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

describe('a rollout under chaos', () => {
  it(
    'keeps all six invariants, whatever is killed, refused, lost or slow',
    async () => {
      const temporalCli = await findTemporalCli(process.env, say);
      const endMs = performance.now() + options.budgetMs;
      const reports: RunReport[] = [];
      const problems: string[] = [];
      for (const seed of options.seeds) {
        if (performance.now() > endMs) break;
        try {
          const report = await runPlan(drawPlan(seed), temporalCli);
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
      say(totalOf(reports));
      expect(reports.length).toBeGreaterThan(0);
      expect(problems).toEqual([]);
    },
    options.budgetMs + lastRunMs,
  );
});
