import { randomUUID } from 'node:crypto';

import { QuerySigner } from './signedQuery.js';

export interface OperationError {
  readonly code: string;
  readonly message: string;
}

export type OperationOutcome =
  | { readonly status: 'InProgress' }
  | { readonly status: 'Succeeded'; readonly endTime: string }
  | { readonly status: 'Failed' | 'Canceled'; readonly endTime: string; readonly error: OperationError };

/** A long-running operation, as its URL tells of it. */
export interface Operation {
  readonly id: string;
  readonly provider: 'Microsoft.Compute' | 'Microsoft.Network';
  /** The name of the resource that it is about. */
  readonly subject: string;
  readonly startTime: string;
  outcome: OperationOutcome;
  /** Its URL answers 404 from now on, whatever becomes of the operation. */
  gone: boolean;
  /** Somebody has read it while it was in progress: only the first such answer says when to come again. */
  isPolled: boolean;
  /** The answer that began it does not name it. */
  unnamed: boolean;
}

/** All operations of the subscription, and their URLs. */
export class Operations {
  readonly #operations = new Map<string, Operation>();
  readonly #signer = new QuerySigner();

  constructor(
    private readonly subscriptionId: string,
    private readonly location: string,
  ) {}

  start(provider: Operation['provider'], subject: string): Operation {
    const operation: Operation = {
      id: randomUUID(),
      provider,
      subject,
      startTime: new Date().toISOString(),
      outcome: { status: 'InProgress' },
      gone: false,
      isPolled: false,
      unnamed: false,
    };
    this.#operations.set(operation.id, operation);
    return operation;
  }

  find(id: string): Operation | undefined {
    return this.#operations.get(id.toLowerCase());
  }

  /** The absolute URL under which a client follows the operation. */
  url(operation: Operation, origin: string, apiVersion: string): string {
    const collection = operation.provider === 'Microsoft.Compute' ? 'operations' : 'operationResults';
    const query = new URLSearchParams({
      p: operation.id,
      'api-version': apiVersion,
      ...this.#signer.sign(operation.id, Date.parse(operation.startTime)),
    });
    return `${origin}/subscriptions/${this.subscriptionId}/providers/${operation.provider}/locations/${this.location}/${collection}/${operation.id}?${query.toString()}`;
  }

  /** True when the query is one that `url` made for that operation. */
  isSigned(operationId: string, query: URLSearchParams): boolean {
    return this.#signer.verify(operationId, query);
  }
}
