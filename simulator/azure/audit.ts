/** `at` is wall-clock milliseconds since the epoch. No entry ever holds a token, a query string or a body. */
export type AzureAuditEntry = RequestEntry | OperationEntry | ResourceEntry | MachineEntry;

/** One request on ARM's paths, written when it was answered: `at` minus `durationMs` is when it came. */
export interface RequestEntry {
  readonly kind: 'request';
  readonly at: number;
  readonly id: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly virtualMachine?: string;
  /** `hung`: will never be answered. `reset`: the socket was destroyed, before or after the work was done. */
  readonly status: number | 'hung' | 'reset';
  readonly userAgent: string;
  readonly durationMs: number;
}

export type VirtualMachineOperation = 'create' | 'update' | 'delete';

/** A long-running operation on a virtual machine. */
export interface OperationEntry {
  readonly kind: 'operation';
  readonly at: number;
  readonly operationId: string;
  readonly operation: VirtualMachineOperation;
  readonly virtualMachine: string;
  readonly phase: 'started' | 'succeeded' | 'failed' | 'canceled';
  readonly code?: string;
  readonly message?: string;
}

export interface ResourceEntry {
  readonly kind: 'resource';
  readonly at: number;
  readonly type: 'virtualMachine' | 'networkInterface' | 'disk';
  readonly name: string;
  readonly change: 'created' | 'deleted';
}

/** The machine behind a virtual machine: what a kubelet would run on. */
export interface MachineEntry {
  readonly kind: 'machine';
  readonly at: number;
  readonly virtualMachine: string;
  readonly state: 'started' | 'stopped';
}
