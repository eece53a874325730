import { describe, expect, it } from '@jest/globals';

import type { Progress } from '../../demo/progress.js';
import type { Screen } from '../../demo/view.js';
import { createView } from '../../demo/view.js';
import type { PhaseRow } from '../../karpenter/phase.js';

/** A terminal as far as the view uses one: lines, and "up n lines, clear all below". */
class Terminal implements Screen {
  readonly isTTY = true;
  readonly lines: string[] = [];

  constructor(readonly columns?: number) {}

  write(text: string): void {
    const up = /^\u001b\[(\d+)A\u001b\[0J$/.exec(text);
    if (up !== null) this.lines.splice(this.lines.length - Number(up[1]));
    else this.lines.push(text.replace(/\n$/, ''));
  }
}

class Pipe implements Screen {
  readonly lines: string[] = [];

  write(text: string): void {
    this.lines.push(text.replace(/\n$/, ''));
  }
}

function rowOf(index: number, phase: PhaseRow['phase']): PhaseRow {
  const nodeClaim = `general-purpose-${String(index).padStart(8, '0')}`;
  return { nodeClaim, uid: `uid-${index}`, phase, replacement: phase === 'Reserve' ? undefined : `${nodeClaim}-new` };
}

function progressOf(parts: Partial<Progress> = {}): Progress {
  return { phases: [], disrupted: 2, allowed: 5, waiting: 7, replaced: 1, ...parts };
}

describe('the view in a terminal', () => {
  it('is a headline and a row a node on its way', () => {
    const terminal = new Terminal(80);
    createView(terminal, 10).show(progressOf({ phases: [rowOf(1, 'Reserve'), rowOf(2, 'Drain')] }), 12.4);
    expect(terminal.lines).toEqual([
      '   12 s  1/10 replaced, 2/5 disrupted, 7 waiting',
      '  general-purpose-00000001 Reserve     ',
      '  general-purpose-00000002 Drain       general-purpose-00000002-new',
    ]);
  });

  it('is redrawn in place, and what is said stays above it', () => {
    const terminal = new Terminal(80);
    const view = createView(terminal, 10);
    view.say('Drift');
    view.show(progressOf({ phases: [rowOf(1, 'Launch'), rowOf(2, 'Launch')] }), 1);
    view.show(progressOf({ phases: [rowOf(1, 'Drain')] }), 2);
    expect(terminal.lines).toHaveLength(3);
    view.say('half way');
    expect(terminal.lines).toEqual(['Drift', 'half way']);
    view.show(progressOf(), 3);
    view.end();
    expect(terminal.lines).toEqual(['Drift', 'half way']);
    view.end();
    expect(terminal.lines).toEqual(['Drift', 'half way']);
  });

  it.each([80, 40, 0, undefined])('fits into %s columns, so that no line wraps', (columns) => {
    const terminal = new Terminal(columns);
    // As long as names may be: the pool's name cut to 50 characters, and the suffix.
    const longName = `${'x'.repeat(50)}-12345678`;
    const phases = Array.from({ length: 500 }, (_, index) => ({
      ...rowOf(index, 'Initialize'),
      nodeClaim: longName,
      replacement: longName,
    }));
    const progress = progressOf({ phases, replaced: 999, waiting: 999, disrupted: 999, allowed: null });
    createView(terminal, 1000).show(progress, 123_456);
    const width = columns === 40 ? 40 : 80;
    expect(terminal.lines.filter((line) => line.length >= width)).toEqual([]);
    expect(Math.max(...terminal.lines.map((line) => line.length))).toBe(width - 1);
  });

  it('sums up what is beyond twenty rows', () => {
    const terminal = new Terminal(80);
    const phases = Array.from({ length: 23 }, (_, index) => rowOf(index, 'Launch'));
    createView(terminal, 100).show(progressOf({ phases }), 1);
    expect(terminal.lines).toHaveLength(1 + 20 + 1);
    expect(terminal.lines.at(-1)).toBe('  and 3 more');
  });
});

describe('the view in a pipe or a file', () => {
  it('is a line with the phases whenever something has moved', () => {
    const pipe = new Pipe();
    const view = createView(pipe, 10);
    const phases = [rowOf(1, 'Launch'), rowOf(2, 'Launch'), rowOf(3, 'Drain')];
    view.show(progressOf({ phases }), 1);
    view.show(progressOf({ phases }), 2);
    view.show(progressOf({ phases: phases.slice(1) }), 3);
    view.show(progressOf({ replaced: 2 }), 4);
    view.say('done');
    expect(pipe.lines).toEqual([
      '    1 s  1/10 replaced, 2/5 disrupted, 7 waiting: 2 Launch, 1 Drain',
      '    3 s  1/10 replaced, 2/5 disrupted, 7 waiting: 1 Launch, 1 Drain',
      '    4 s  2/10 replaced, 2/5 disrupted, 7 waiting',
      'done',
    ]);
  });

  it('says unbounded where no budget bounds drift', () => {
    const pipe = new Pipe();
    createView(pipe, 10).show(progressOf({ allowed: null }), 0);
    expect(pipe.lines).toEqual(['    0 s  1/10 replaced, 2/unbounded disrupted, 7 waiting']);
  });

  it('never holds an escape sequence', () => {
    const pipe = new Pipe();
    const view = createView(pipe, 10);
    view.show(progressOf({ phases: [rowOf(1, 'Launch')] }), 1);
    view.end();
    expect(pipe.lines.join('')).not.toContain('\u001b');
  });
});
