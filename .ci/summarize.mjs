// Adds up what the suites of .ci/run have written into one folder: each failed test by name, then the totals alone on the last line.
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const suites = ['test', 'slow', 'kubernetes', 'production', 'chaos', 'chaosReal'];
/** So much of a failure says what it is; its output is further up. */
const longestMessage = 500;

const [folder] = process.argv.slice(2);

function read(name) {
  const path = join(folder, `${name}.json`);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

function failuresOf(suite, { testResults }) {
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const where = `${suite}: ${relative(process.cwd(), name)}`;
    // A file that could not be run has no tests.
    if (message !== '' && assertionResults.length === 0) return [{ where, message }];
    return assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => ({
        where: `${where}: ${fullName}`,
        message: failureMessages.join('\n'),
      }));
  });
}

let [passed, failed] = [0, 0];
const failures = [];
for (const suite of suites) {
  const jest = read(suite);
  if (jest === undefined) {
    failed += 1;
    failures.push({ where: suite, message: 'came to no result' });
    continue;
  }
  passed += jest.numPassedTests;
  failed += jest.numFailedTests + jest.numRuntimeErrorTestSuites;
  failures.push(...failuresOf(suite, jest));
  const endsAt = Math.max(jest.startTime, ...jest.testResults.map(({ endTime }) => endTime));
  console.log(`${suite}: ${Math.round((endsAt - jest.startTime) / 1000)} s`);
}

const report = read('report');
const isReplayed = report?.replaced === report?.nodes && report?.maxInFlight === 5 && report?.maxDisrupted === 5;
if (isReplayed) passed += 1;
else {
  failed += 1;
  failures.push({ where: 'npm start', message: 'did not replay the reported case, see its summary' });
}

// The names last, without colours: the end of a long output is what is kept.
const plain = (text) => stripVTControlCharacters(text).slice(0, longestMessage);
for (const { where, message } of failures) console.log(`${where}\n${plain(message)}\n`);
for (const { where } of failures) console.log(`FAILED ${where}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
