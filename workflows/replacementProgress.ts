import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';

import type { Phase } from '../karpenter/phase.js';
import { clockTime, durationText, markdownTable } from './markdown.js';
import type { LaunchFailure, ReplaceNodeInput } from './replacementTypes.js';
import { searchAttributes } from './searchAttributes.js';

interface Step {
  readonly name: string;
  readonly beganAtMs: number;
  endedAtMs: number | undefined;
  note: string;
}

export type EndPhase = 'Replaced' | 'NotNeeded' | 'Failed' | 'Canceled';

/** What one replacement has done so far, as people see it: current details, the search attributes Phase and ErrorCode. */
export class ReplacementProgress {
  readonly #steps: Step[] = [];
  readonly #launchFailures: LaunchFailure[] = [];
  readonly #leftovers: string[] = [];
  #phase: Phase | EndPhase = 'Reserve';

  constructor(private readonly input: ReplaceNodeInput) {}

  get launchFailures(): readonly LaunchFailure[] {
    return this.#launchFailures;
  }

  /** What could not be cleaned up, or was left standing on purpose, in words. */
  get leftovers(): readonly string[] {
    return this.#leftovers;
  }

  /** The step that runs from now on; the one before it has ended. */
  enter(phase: Phase, name: string, note = ''): void {
    const now = Date.now();
    const last = this.#steps.at(-1);
    if (last !== undefined) last.endedAtMs ??= now;
    this.#steps.push({ name, beganAtMs: now, endedAtMs: undefined, note });
    this.#setPhase(phase);
  }

  /** Says more of the step that runs. */
  note(text: string): void {
    const last = this.#steps.at(-1);
    if (last !== undefined) last.note = text;
    this.#publish();
  }

  launchFailed({ nodeClaim, code, message }: LaunchFailure): void {
    this.#launchFailures.push({ nodeClaim, code, message });
    this.note(`${code}: ${message}`);
  }

  leftover(text: string): void {
    this.#leftovers.push(text);
    this.#publish();
  }

  end(phase: EndPhase, note: string): void {
    const last = this.#steps.at(-1);
    if (last !== undefined) last.endedAtMs ??= Date.now();
    if (note !== '') this.#steps.push({ name: phase, beganAtMs: Date.now(), endedAtMs: Date.now(), note });
    this.#setPhase(phase);
  }

  failed(code: string, note: string): void {
    upsertSearchAttributes([{ key: searchAttributes.errorCode, value: code }]);
    this.end('Failed', note);
  }

  #setPhase(phase: Phase | EndPhase): void {
    if (phase !== this.#phase) upsertSearchAttributes([{ key: searchAttributes.phase, value: phase }]);
    this.#phase = phase;
    this.#publish();
  }

  #publish(): void {
    const { nodeClaim, node, nodePool, reason, reasonDetail } = this.input;
    const rows = this.#steps.map(({ name, beganAtMs, endedAtMs, note }) => [
      name,
      clockTime(beganAtMs),
      endedAtMs === undefined ? 'running' : durationText(endedAtMs - beganAtMs),
      note,
    ]);
    setCurrentDetails(
      [
        `**${this.#phase}**: NodeClaim \`${nodeClaim}\` (Node \`${node}\`) of NodePool \`${nodePool}\`, ${reason}: ${reasonDetail}.`,
        '',
        markdownTable(['Step', 'Began (UTC)', 'Took', 'What'], rows),
        ...(this.#leftovers.length === 0 ? [] : ['', ...this.#leftovers.map((text) => `- Left: ${text}`)]),
      ].join('\n'),
    );
  }
}
