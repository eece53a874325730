import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

import { errorMessage } from '../../runtime/errors.js';
import type { Log } from '../../runtime/log.js';
import type { Machine } from './machine.js';
import { machineFeedLineSchema } from './machine.js';

const firstReconnectMs = 100;
const maxReconnectMs = 5_000;
/** After a reconnection: a machine that is not announced again within this time has stopped in between. */
const announcementMs = 1_000;

export interface MachineFeedOptions {
  readonly endpoint: string;
  readonly caPem: string;
  readonly token: string;
}

export type MachineEvent =
  | { readonly type: 'connected' }
  | { readonly type: 'started'; readonly machine: Machine }
  | { readonly type: 'stopped'; readonly machine: Machine };

/** Knows which machines run: follows the stream of the ARM simulator and connects again when it is lost. */
export class MachineFeed {
  readonly #running = new Map<string, Machine>();
  readonly #listeners = new Set<(event: MachineEvent) => void>();
  readonly #stopping = new AbortController();
  #following: Promise<void> | undefined;
  #connected = false;

  constructor(
    private readonly options: MachineFeedOptions,
    private readonly log: Log,
  ) {}

  /** The machines that run, by name. While not connected: those that ran when the connection was lost. */
  get running(): ReadonlyMap<string, Machine> {
    return this.#running;
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** A listener must not throw. */
  onEvent(listener: (event: MachineEvent) => void): void {
    this.#listeners.add(listener);
  }

  start(): void {
    this.#following ??= this.#follow();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#following;
  }

  async #follow(): Promise<void> {
    let failures = 0;
    while (!this.#isStopped()) {
      try {
        const response = await this.#connect();
        failures = 0;
        await this.#read(response);
        if (this.#isStopped()) return;
        this.log.info({}, 'machine feed ended, connecting again');
      } catch (error) {
        if (this.#isStopped()) return;
        failures += 1;
        this.log.warn({ failures, error: errorMessage(error) }, 'machine feed lost, connecting again');
      }
      const delayMs = Math.min(firstReconnectMs * 2 ** failures, maxReconnectMs);
      await delay(delayMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
  }

  #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  #connect(): Promise<IncomingMessage> {
    const { endpoint, caPem, token } = this.options;
    return new Promise((resolve, reject) => {
      request(
        new URL('/_simulator/machines', endpoint),
        { ca: caPem, headers: { authorization: `Bearer ${token}` }, signal: this.#stopping.signal },
        (response) => {
          if (response.statusCode === 200) {
            resolve(response);
            return;
          }
          response.destroy();
          reject(new Error(`the machine feed answered ${String(response.statusCode)}`));
        },
      )
        .on('error', reject)
        .end();
    });
  }

  async #read(response: IncomingMessage): Promise<void> {
    const unannounced = new Set(this.#running.keys());
    const announcementEnd = setTimeout(() => {
      for (const name of unannounced) this.#stopped(name);
    }, announcementMs);
    this.#connected = true;
    this.#emit({ type: 'connected' });
    try {
      // readline does not hand on the errors of its input.
      const lost = new Promise<never>((_, reject) => response.once('error', reject));
      await Promise.race([lost, this.#readLines(response, unannounced)]);
    } finally {
      this.#connected = false;
      clearTimeout(announcementEnd);
      response.destroy();
    }
  }

  async #readLines(response: IncomingMessage, unannounced: Set<string>): Promise<void> {
    for await (const text of createInterface({ input: response, crlfDelay: Infinity })) {
      if (text === '') continue;
      const line = machineFeedLineSchema.parse(JSON.parse(text));
      unannounced.delete(line.name);
      switch (line.type) {
        case 'started':
          this.#started(line);
          break;
        case 'stopped':
          if (this.#running.get(line.name)?.vmId === line.vmId) this.#stopped(line.name);
          break;
      }
    }
  }

  #started(machine: Machine): void {
    const previous = this.#running.get(machine.name);
    if (previous?.vmId === machine.vmId) return;
    if (previous !== undefined) this.#stopped(previous.name);
    this.#running.set(machine.name, machine);
    this.#emit({ type: 'started', machine });
  }

  #stopped(name: string): void {
    const machine = this.#running.get(name);
    if (machine === undefined) return;
    this.#running.delete(name);
    this.#emit({ type: 'stopped', machine });
  }

  #emit(event: MachineEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
