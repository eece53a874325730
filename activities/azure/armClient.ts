import { ComputeManagementClient } from '@azure/arm-compute';
import type { TokenCredential } from '@azure/core-auth';
import { createDefaultHttpClient, createPipelineRequest } from '@azure/core-rest-pipeline';

import { errorMessage } from '../../runtime/errors.js';
import { ArmError } from './armError.js';
import type { Capture } from './responseCapture.js';
import { ResponseCapture } from './responseCapture.js';

/** Where the VMs are and how to get there. */
export interface ArmSettings {
  /** e.g. `https://management.azure.com` */
  readonly endpoint: string;
  /** PEM text of a CA to trust besides the usual ones. */
  readonly caPem?: string;
  readonly credential: TokenCredential;
  readonly subscriptionId: string;
  /** Where AKS keeps the cluster's nodes, e.g. `MC_group_cluster_westus2`. */
  readonly resourceGroup: string;
  readonly location: string;
  /** Throws when nothing may be changed now. */
  readonly checkMayChange?: () => void;
  /** How long one request may take, in milliseconds: a hung connection must not eat an activity's attempt. Default: 20 s. */
  readonly requestTimeoutMs?: number;
}

const defaultRequestTimeoutMs = 20_000;

/** The Azure SDK, set up so that it neither retries nor hides what ARM answered. */
export class ArmClient {
  readonly sdk: ComputeManagementClient;
  readonly #capture = new ResponseCapture();
  readonly #http = createDefaultHttpClient();
  readonly #endpoint: string;
  readonly #requestTimeoutMs: number;

  constructor({ credential, subscriptionId, endpoint, caPem, requestTimeoutMs }: ArmSettings) {
    this.#endpoint = endpoint;
    this.#requestTimeoutMs = requestTimeoutMs ?? defaultRequestTimeoutMs;
    this.sdk = new ComputeManagementClient(credential, subscriptionId, {
      endpoint,
      // Temporal retries: the SDK would sleep inside the call, for as long as Retry-After says.
      retryOptions: { maxRetries: 0 },
      ...(caPem === undefined ? {} : { tlsOptions: { ca: caPem } }),
      additionalPolicies: [{ policy: this.#capture.policy, position: 'perRetry' }],
    });
  }

  /**
   * One call of the SDK, with a deadline of its own.
   * @param what the request in words, e.g. `read VM x`
   * @throws ArmError with what the answer itself said
   */
  async call<T>(what: string, call: (signal: AbortSignal, capture: Capture) => Promise<T>): Promise<T> {
    return await this.#capture.run(async (capture) => {
      try {
        return await call(AbortSignal.timeout(this.#requestTimeoutMs), capture);
      } catch (error) {
        const { last } = capture;
        if (last === undefined || last.status < 400) {
          throw new ArmError(`${what}: no answer: ${errorMessage(error)}`, undefined, '', undefined);
        }
        const { code, message } = last.error ?? { code: '', message: `HTTP ${last.status}` };
        throw new ArmError(`${what}: ${code} ${message}`.trim(), last.status, code, last.retryAfterMs, message);
      }
    });
  }

  /**
   * One request to a resource of another provider, which this SDK has no methods for.
   * @param resourceId begins with `/subscriptions/`
   * @returns false when there is no such resource
   * @throws ArmError for any other refusal
   */
  async send(what: string, method: 'GET' | 'DELETE', resourceId: string, apiVersion: string): Promise<boolean> {
    return await this.call(what, async (signal, capture) => {
      const url = new URL(`${resourceId}?api-version=${apiVersion}`, this.#endpoint).toString();
      const request = createPipelineRequest({ url, method, abortSignal: signal });
      const { status } = await this.sdk.pipeline.sendRequest(this.#http, request);
      const isMissing = status === 404 && capture.last?.error?.code !== 'ResourceGroupNotFound';
      if (status >= 400 && !isMissing) throw new Error(`HTTP ${status}`);
      return !isMissing;
    });
  }
}
