import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { TemporalSettings } from '../../activities/temporal/connection.js';
import { demoWorkerFlags } from '../../demo/settings.js';
import type { Stack } from '../../demo/stack.js';
import { spawnDriftless } from '../../demo/serviceProcess.js';

/** What runs of Driftless in a process of its own: `worker-1`, `watcher` and so on. */
export interface ServiceOptions {
  readonly stack: Pick<Stack, 'azure' | 'files'>;
  readonly temporal: TemporalSettings;
  readonly speed: number;
  /** Where each service's log goes, `<name>.log`. */
  readonly logFolder: string;
}

/** From the end of a process to the instant at which its successor was at work; wall-clock milliseconds. */
export interface Outage {
  readonly service: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** As Kubernetes would wait before it starts a container that ended by itself. */
const restartDelayMs = 500;
const workerFlags = [
  ...['--arm-writes-per-second', '200'],
  // Nobody waits for minutes to see whether anything is left.
  ...['--sweep-interval', '30s', '--sweep-min-age', '60s'],
  ...['--look-again', '60s'],
  // What shares its machine with all the simulators has to look less often.
  ...['--wait-interval', '3s'],
  ...['--log-level', 'info'],
];

function now(): number {
  return performance.timeOrigin + performance.now();
}

/** One service, started again whenever it ends, as its Deployment would do it. */
class Service {
  #child: ChildProcess | undefined;
  #isStopping = false;
  #downSinceMs: number | undefined;
  #nextDownMs = restartDelayMs;
  #running: Promise<void> | undefined;
  readonly outages: Outage[] = [];
  /** How often it ended without having been killed. */
  selfExits = 0;

  constructor(
    private readonly name: string,
    private readonly options: ServiceOptions,
  ) {}

  /** Settles when it is at work for the first time. */
  async start(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#running = this.#keepRunning(resolve);
    });
  }

  /** kill -9, at once; it is started again after that time. Answers whether there was anything to kill. */
  kill(downMs: number): boolean {
    if (this.#child === undefined || this.#isStopping) return false;
    this.#nextDownMs = downMs;
    return this.#child.kill('SIGKILL');
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#child?.kill('SIGKILL');
    await this.#running;
  }

  /** Outages until now; one that has not ended lasts until now. */
  outagesUntil(atMs: number): Outage[] {
    const open = this.#downSinceMs === undefined ? [] : [{ service: this.name, fromMs: this.#downSinceMs, toMs: atMs }];
    return [...this.outages, ...open];
  }

  async #keepRunning(onStarted: () => void): Promise<void> {
    while (!this.#mayEnd()) {
      const child = this.#spawn(() => {
        if (this.#downSinceMs !== undefined) {
          this.outages.push({ service: this.name, fromMs: this.#downSinceMs, toMs: now() });
        }
        this.#downSinceMs = undefined;
        onStarted();
      });
      this.#child = child;
      await once(child, 'close');
      this.#child = undefined;
      this.#downSinceMs ??= now();
      if (child.signalCode !== 'SIGKILL') this.selfExits += 1;
      const downMs = this.#nextDownMs;
      this.#nextDownMs = restartDelayMs;
      if (!this.#mayEnd()) await delay(downMs);
    }
  }

  #mayEnd(): boolean {
    return this.#isStopping;
  }

  #spawn(onStarted: () => void): ChildProcess {
    const { stack, temporal, speed, logFolder } = this.options;
    const [command = ''] = this.name.split('-');
    const flags =
      command === 'worker'
        ? [...demoWorkerFlags(speed), ...workerFlags]
        : ['--gather', '50ms', '--retry-delay', '200ms'];
    const child = spawnDriftless(stack, [command, ...flags], {
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
    });
    const log = createWriteStream(join(logFolder, `${this.name}.log`), { flags: 'a' });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log.write(text);
      if (text.includes(`"${command} started"`)) onStarted();
    });
    child.stderr.on('end', () => {
      log.end();
    });
    return child;
  }
}

/** Workers and watcher of one run. */
export class Services {
  readonly #services: ReadonlyMap<string, Service>;

  constructor(workers: number, options: ServiceOptions) {
    const names = ['watcher', ...Array.from({ length: workers }, (_, index) => `worker-${index + 1}`)];
    this.#services = new Map(names.map((name) => [name, new Service(name, options)]));
  }

  async start(): Promise<void> {
    await Promise.all([...this.#services.values()].map((service) => service.start()));
  }

  kill(service: string, downMs: number): boolean {
    return this.#services.get(service)?.kill(downMs) ?? false;
  }

  get selfExits(): number {
    return [...this.#services.values()].reduce((total, { selfExits }) => total + selfExits, 0);
  }

  outagesUntil(atMs: number): readonly Outage[] {
    return [...this.#services.values()].flatMap((service) => service.outagesUntil(atMs));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#services.values()].map((service) => service.stop()));
  }
}
