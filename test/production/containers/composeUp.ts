import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { parseDurationMs } from '../../../runtime/optionParsers.js';
import type { Production } from '../setup/production.js';
import type { Image } from './buildImage.js';
import { pathOf } from './buildImage.js';
import type { Project, Service } from './composeFile.js';
import type { Contained, Container, Mount, Network } from './container.js';
import { runContained, startNetwork } from './container.js';
import { imageOf } from './images.js';

/** As Docker has it. */
const defaultGraceMs = 10_000;
const startTimeoutMs = 180_000;
/** The last of what a service has printed, for an error. */
const shownOutput = 3_000;

interface Running {
  readonly service: Service;
  readonly container: Container;
  readonly contained: Contained;
}

/** What a service's process ended with. */
export interface Stopped {
  readonly name: string;
  readonly exitCode: number;
}

/**
 * A compose project in containers without images: each service's own command, environment, user, mounts, health check and dependencies.
 * Every service has a loopback address of its own in a network of the project's, and is found by its name.
 */
export class ComposeRun {
  readonly #starting = new Map<string, Promise<Running>>();

  private constructor(
    private readonly project: Project,
    private readonly production: Production,
    private readonly folder: string,
    private readonly network: Network,
  ) {}

  static async create(project: Project, production: Production): Promise<ComposeRun> {
    const folder = mkdtempSync(join(tmpdir(), 'driftless-compose-'));
    const names = Object.keys(project.services);
    const hosts = ['127.0.0.1 localhost', ...names.map((name, index) => `127.77.0.${index + 2} ${name}`), ''];
    writeFileSync(join(folder, 'hosts'), hosts.join('\n'));
    return new ComposeRun(project, production, folder, await startNetwork());
  }

  /** Starts services, all by default, with those that they depend on, each when its dependencies allow it. */
  async up(names: readonly string[] = Object.keys(this.project.services)): Promise<void> {
    try {
      await Promise.all(names.map((name) => this.#start(name)));
    } catch (error) {
      throw new Error(`the project did not come up; what has ended:\n${await this.#ended()}`, { cause: error });
    }
  }

  /** What the services that have ended said at last. */
  async #ended(): Promise<string> {
    const texts: string[] = [];
    for (const [name, starting] of this.#starting) {
      const running = await starting.catch(() => undefined);
      if (running?.contained.hasEnded() === true)
        texts.push(`${name}: ${running.contained.output().slice(-shownOutput)}`);
    }
    return texts.join('\n');
  }

  /** Waits until a service's process has ended. */
  async exitCodeOf(name: string): Promise<number> {
    return (await this.#start(name)).contained.exitCode;
  }

  /** What a service has printed. */
  async outputOf(name: string): Promise<string> {
    return (await this.#start(name)).contained.output();
  }

  /** Runs another command in a service's container, as `docker compose exec` does. */
  async execute(
    name: string,
    command: readonly string[],
  ): Promise<{ readonly exitCode: number; readonly output: string }> {
    const { container } = await this.#start(name);
    const contained = await runContained(container, command);
    return { exitCode: await contained.exitCode, output: contained.output() };
  }

  /** Runs a service's health check once. */
  async checkHealth(name: string): Promise<{ readonly exitCode: number; readonly output: string }> {
    const { service } = await this.#start(name);
    return await this.execute(name, healthCommand(name, service));
  }

  /** A file in a volume, as this machine sees it. */
  volumePath(volume: string, name: string): string {
    return join(this.folder, 'volumes', volume, name);
  }

  /** Stops all services, the last one first, as `docker compose down` does; volumes stay for another `up`. */
  async down(): Promise<readonly Stopped[]> {
    const running = [...this.#starting].reverse();
    this.#starting.clear();
    const stopped: Stopped[] = [];
    for (const [name, starting] of running) {
      const started = await starting.catch(() => undefined);
      if (started === undefined) continue;
      const grace = started.service.stop_grace_period;
      const graceMs = grace === undefined ? defaultGraceMs : parseDurationMs(grace);
      stopped.push({ name, exitCode: await started.contained.stop(graceMs) });
    }
    return stopped;
  }

  /** Stops all, and removes the volumes. */
  async remove(): Promise<void> {
    await this.down();
    await this.network.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #start(name: string): Promise<Running> {
    const known = this.#starting.get(name);
    if (known !== undefined) return known;
    const service = this.project.services[name];
    if (service === undefined) throw new Error(`no service ${name}`);
    const starting = this.#startService(name, service);
    this.#starting.set(name, starting);
    return starting;
  }

  async #startService(name: string, service: Service): Promise<Running> {
    await Promise.all(
      Object.entries(service.depends_on).map(async ([dependency, { condition }]) => {
        const running = await this.#start(dependency);
        switch (condition) {
          case 'service_started':
            return;
          case 'service_healthy':
            return this.#untilHealthy(dependency, running);
          case 'service_completed_successfully': {
            const exitCode = await running.contained.exitCode;
            if (exitCode !== 0) throw failed(dependency, running.contained, `ended with code ${exitCode}`);
          }
        }
      }),
    );
    const image = imageOf(service.image, this.production, this.folder);
    const container = this.#containerOf(name, service, image);
    const entrypoint = service.entrypoint.length > 0 ? service.entrypoint : image.entrypoint;
    const command = service.command.length > 0 ? service.command : image.command;
    return { service, container, contained: await runContained(container, [...entrypoint, ...command]) };
  }

  #containerOf(name: string, service: Service, image: Image): Container {
    return {
      hostname: name,
      root: image.root,
      isReadOnly: service.read_only,
      mounts: [...image.mounts, ...service.volumes.map((volume) => this.#mountOf(volume, image))],
      tmpfs: service.tmpfs,
      environment: { PATH: pathOf(image), ...image.environment, ...service.environment },
      workingFolder: image.workingFolder,
      hostsFile: join(this.folder, 'hosts'),
      network: this.network,
      user: service.user === undefined ? image.user : Number(service.user),
    };
  }

  #mountOf({ type, source, target, read_only: readOnly }: Service['volumes'][number], image: Image): Mount {
    if (type === 'bind') return { source, target, readOnly };
    const path = this.volumePath(source, '');
    const isNew = mkdirSync(path, { recursive: true }) !== undefined;
    // A new volume belongs to whom the image's folder belongs.
    const owner = statSync(join(image.root, target), { throwIfNoEntry: false });
    if (isNew && owner !== undefined) chownSync(path, owner.uid, owner.gid);
    return { source: path, target, readOnly };
  }

  async #untilHealthy(name: string, { service, container, contained }: Running): Promise<void> {
    const { healthcheck } = service;
    if (healthcheck === undefined) throw new Error(`${name} has no health check`);
    const command = healthCommand(name, service);
    const deadline = Date.now() + startTimeoutMs;
    for (let failures = 0; ; failures += 1) {
      const probe = await runContained(container, command);
      const isOver = new AbortController();
      const timeout = delay(parseDurationMs(healthcheck.timeout), undefined, { signal: isOver.signal }).then(
        () => probe.stop(0),
        () => undefined,
      );
      const exitCode = await probe.exitCode.catch(() => undefined);
      isOver.abort();
      await timeout;
      if (exitCode === 0) return;
      if (contained.hasEnded() || failures === healthcheck.retries || Date.now() > deadline) {
        throw failed(name, contained, `is not healthy: ${probe.output()}`);
      }
      await delay(parseDurationMs(healthcheck.interval));
    }
  }
}

function healthCommand(name: string, { healthcheck }: Service): readonly string[] {
  const [kind, ...command] = healthcheck?.test ?? [];
  if (kind !== 'CMD') throw new Error(`${name}: the health check must be a CMD`);
  return command;
}

function failed(name: string, contained: Contained, what: string): Error {
  return new Error(`${name} ${what}\n${contained.output().slice(-shownOutput)}`);
}
