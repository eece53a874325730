import type { AuditLog } from '../auditLog.js';
import { auditNow } from '../auditLog.js';
import type { AzureAuditEntry } from './audit.js';

/** A machine runs: what a kubelet on it would have to know. */
export interface MachineStarted {
  readonly type: 'started';
  readonly name: string;
  readonly resourceId: string;
  readonly vmId: string;
  readonly location: string;
  /** e.g. `westus2-1`; absent for a machine outside any zone. */
  readonly zone?: string;
  readonly vmSize: string;
  readonly tags: Readonly<Record<string, string>>;
  /** As it was put: base64. */
  readonly customData?: string;
  /** Wall-clock milliseconds since the epoch. */
  readonly at: number;
}

export interface MachineStopped {
  readonly type: 'stopped';
  readonly name: string;
  readonly vmId: string;
  readonly at: number;
}

export type MachineChange = MachineStarted | MachineStopped;

/** Which machines run, and who wants to be told of changes. */
export class MachineFeed {
  readonly #running = new Map<string, MachineStarted>();
  readonly #listeners = new Set<(change: MachineChange) => void>();

  constructor(private readonly audit: AuditLog<AzureAuditEntry>) {}

  isRunning(vmId: string): boolean {
    return this.#running.has(vmId);
  }

  start(machine: Omit<MachineStarted, 'type' | 'at'>): void {
    if (this.#running.has(machine.vmId)) return;
    const change: MachineStarted = { type: 'started', ...machine, at: auditNow() };
    this.#running.set(machine.vmId, change);
    this.audit.append({ kind: 'machine', at: change.at, virtualMachine: machine.name, state: 'started' });
    this.#tell(change);
  }

  /** Changes nothing when it does not run. */
  stop(vmId: string): void {
    const machine = this.#running.get(vmId);
    if (machine === undefined) return;
    this.#running.delete(vmId);
    const change: MachineStopped = { type: 'stopped', name: machine.name, vmId, at: auditNow() };
    this.audit.append({ kind: 'machine', at: change.at, virtualMachine: machine.name, state: 'stopped' });
    this.#tell(change);
  }

  /** Tells of every machine that runs now, then of each change; answers how to stop that. */
  subscribe(listener: (change: MachineChange) => void): () => void {
    for (const machine of this.#running.values()) listener(machine);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(change: MachineChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}
