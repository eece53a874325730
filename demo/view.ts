import { phases as phaseNames } from '../karpenter/phase.js';
import type { Progress } from './progress.js';

/** Where the demo tells people how it goes. */
export interface View {
  /** @param simulatedSeconds since the drift */
  show(progress: Progress, simulatedSeconds: number): void;
  /** Something worth a line of its own. */
  say(line: string): void;
  /** Leaves what is on the screen there. */
  end(): void;
}

/** Where a view is drawn: process.stdout, as far as it is used. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** For a terminal that does not say how wide it is. */
const usualColumns = 80;
const clearBelow = '\u001b[0J';
const maxRows = 20;

function headline(
  { disrupted, allowed, replaced, waiting }: Progress,
  nodes: number,
  simulatedSeconds: number,
): string {
  const budget = allowed === null ? 'unbounded' : String(allowed);
  const time = `${simulatedSeconds.toFixed(0).padStart(5)} s`;
  return `${time}  ${replaced}/${nodes} replaced, ${disrupted}/${budget} disrupted, ${waiting} waiting`;
}

function phaseCounts({ phases }: Progress): string {
  const counts = phaseNames.map((name) => ({ name, count: phases.filter(({ phase }) => phase === name).length }));
  return counts
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => `${count} ${name}`)
    .join(', ');
}

/** For a terminal: redraws a small table in place. */
class TerminalView implements View {
  #drawnLines = 0;

  constructor(
    private readonly out: Screen,
    private readonly nodes: number,
  ) {}

  show(progress: Progress, simulatedSeconds: number): void {
    const rows = progress.phases
      .slice(0, maxRows)
      .map(({ nodeClaim, phase, replacement }) => `  ${nodeClaim.padEnd(24)} ${phase.padEnd(11)} ${replacement ?? ''}`);
    const more = progress.phases.length > maxRows ? [`  and ${progress.phases.length - maxRows} more`] : [];
    this.#draw([headline(progress, this.nodes, simulatedSeconds), ...rows, ...more]);
  }

  say(line: string): void {
    this.#erase();
    this.out.write(`${line}\n`);
  }

  end(): void {
    this.#erase();
  }

  #draw(lines: readonly string[]): void {
    const { columns = 0 } = this.out;
    const width = (columns > 0 ? columns : usualColumns) - 1;
    this.#erase();
    for (const line of lines) this.out.write(`${line.slice(0, width)}\n`);
    this.#drawnLines = lines.length;
  }

  #erase(): void {
    if (this.#drawnLines > 0) this.out.write(`\u001b[${this.#drawnLines}A${clearBelow}`);
    this.#drawnLines = 0;
  }
}

/** For a file or a pipe: a line whenever something has moved. */
class PlainView implements View {
  #last = '';

  constructor(
    private readonly out: Screen,
    private readonly nodes: number,
  ) {}

  show(progress: Progress, simulatedSeconds: number): void {
    const counts = phaseCounts(progress);
    const state = `${counts} ${progress.replaced}`;
    if (state === this.#last) return;
    this.#last = state;
    this.say(`${headline(progress, this.nodes, simulatedSeconds)}${counts === '' ? '' : `: ${counts}`}`);
  }

  say(line: string): void {
    this.out.write(`${line}\n`);
  }

  end(): void {
    this.#last = '';
  }
}

/** A live table in a terminal, plain lines elsewhere. */
export function createView(out: Screen, nodes: number): View {
  return out.isTTY === true ? new TerminalView(out, nodes) : new PlainView(out, nodes);
}
