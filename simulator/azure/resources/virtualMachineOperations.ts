import type { AuditLog } from '../../auditLog.js';
import { auditNow } from '../../auditLog.js';
import type { AzureAuditEntry, OperationEntry, VirtualMachineOperation } from '../audit.js';
import type { SimulatedClock } from '../clock.js';
import type { OperationEffect } from '../faults.js';
import type { Operation, OperationError, Operations } from '../protocol/operations.js';
import type { RunningOperation, VirtualMachineRecord } from './virtualMachineStore.js';

const preempted: OperationError = {
  code: 'OperationPreempted',
  message: 'Operation execution has been preempted by a more recent operation.',
};

interface OperationParts {
  readonly clock: SimulatedClock;
  readonly audit: AuditLog<AzureAuditEntry>;
  readonly operations: Operations;
}

/** What an operation does when nothing goes wrong. */
export interface OperationWork {
  readonly kind: VirtualMachineOperation;
  /** Simulated. */
  readonly durationMs: number;
  readonly succeed: () => void;
}

/** What faults do beside the operation itself. */
export interface FaultActions {
  readonly startMachine: (record: VirtualMachineRecord) => void;
  readonly vanish: (record: VirtualMachineRecord) => void;
}

type OperationEnd =
  { readonly status: 'Succeeded' } | { readonly status: 'Failed' | 'Canceled'; readonly error: OperationError };

const phases = { Succeeded: 'succeeded', Failed: 'failed', Canceled: 'canceled' } as const;

/** Runs the long-running operations of virtual machines, one at a time on each, as it should be or as a fault wants it. */
export class VirtualMachineOperations {
  constructor(
    private readonly parts: OperationParts,
    private readonly actions: FaultActions,
  ) {}

  start(record: VirtualMachineRecord, work: OperationWork, effect: OperationEffect | undefined): Operation {
    this.#callOffPending(record);
    const operation = this.parts.operations.start('Microsoft.Compute', record.name);
    const running: RunningOperation = { kind: work.kind, operation };
    record.running = running;
    this.#audit(running, 'started');
    const succeed = (): void => {
      this.#end(record, running, { status: 'Succeeded' });
      work.succeed();
    };
    if (effect === undefined) this.#after(record, work.durationMs, succeed);
    else this.#runWith(effect, record, running, work.durationMs, succeed);
    return operation;
  }

  /** Cancels what runs on it, and whatever else was still to come. */
  preempt(record: VirtualMachineRecord): void {
    this.#callOffPending(record);
    if (record.running !== undefined) this.#end(record, record.running, { status: 'Canceled', error: preempted });
  }

  #runWith(
    effect: OperationEffect,
    record: VirtualMachineRecord,
    running: RunningOperation,
    durationMs: number,
    succeed: () => void,
  ): void {
    const failAfter = (afterSeconds: number, status: 'Failed' | 'Canceled', error: OperationError): void => {
      this.#after(record, afterSeconds * 1000, () => {
        this.#end(record, running, { status, error });
        record.state = { kind: 'failed', at: new Date().toISOString(), ...error };
      });
    };
    switch (effect.kind) {
      case 'operationNeverEnds':
        return;
      case 'operationGone':
        running.operation.gone = true;
        this.#after(record, durationMs, succeed);
        return;
      case 'operationUnnamed':
        running.operation.unnamed = true;
        this.#after(record, durationMs, succeed);
        return;
      case 'operationCanceled':
        failAfter(effect.afterSeconds, 'Canceled', preempted);
        return;
      case 'operationFails':
        failAfter(effect.afterSeconds, 'Failed', { code: effect.code, message: effect.message });
        if (effect.machineStarts !== true) return;
        this.#after(record, durationMs, () => {
          this.actions.startMachine(record);
        });
        return;
      case 'vanish':
        this.#after(record, durationMs, () => {
          succeed();
          this.#after(record, effect.afterSeconds * 1000, () => {
            this.actions.vanish(record);
          });
        });
        return;
    }
  }

  #after(record: VirtualMachineRecord, simulatedMs: number, action: () => void): void {
    const callOff = this.parts.clock.after(simulatedMs, () => {
      record.pending.delete(callOff);
      action();
    });
    record.pending.add(callOff);
  }

  #callOffPending(record: VirtualMachineRecord): void {
    for (const callOff of record.pending) callOff();
    record.pending.clear();
  }

  #end(record: VirtualMachineRecord, running: RunningOperation, end: OperationEnd): void {
    running.operation.outcome = { ...end, endTime: new Date().toISOString() };
    record.running = undefined;
    this.#audit(running, phases[end.status], end.status === 'Succeeded' ? undefined : end.error);
  }

  #audit({ kind, operation }: RunningOperation, phase: OperationEntry['phase'], error?: OperationError): void {
    this.parts.audit.append({
      kind: 'operation',
      at: auditNow(),
      operationId: operation.id,
      operation: kind,
      virtualMachine: operation.subject,
      phase,
      ...error,
    });
  }
}
