import { ComputeManagementClient } from '@azure/arm-compute';
import type { TokenCredential } from '@azure/core-auth';
import { createDefaultHttpClient, createPipelineRequest } from '@azure/core-rest-pipeline';

import { errorMessage } from '../../runtime/errors.js';
import { ArmError } from './armError.js';
import type { Capture } from './responseCapture.js';
import { isNotFound, ResponseCapture } from './responseCapture.js';
import type { RequestKind, ThrottleBounds } from './throttle.js';
import { Throttle } from './throttle.js';

/** Where the VMs are and how to get there. */
export interface ArmSettings {
  /** e.g. `https://management.azure.com` */
  readonly endpoint: string;
  /** PEM text of a CA to trust besides the usual ones. */
  readonly caPem?: string;
  /** Makes the credential; again when ARM does not take its token any more, since it keeps a token until its end. */
  readonly createCredential: () => TokenCredential;
  readonly subscriptionId: string;
  /** Where AKS keeps the cluster's nodes, e.g. `MC_group_cluster_westus2`. */
  readonly resourceGroup: string;
  readonly location: string;
  /** Throws when nothing may be changed now. */
  readonly checkMayChange?: () => void;
  /** How long one request may take, in milliseconds: a hung connection must not eat an activity's attempt. Default: 20 s. */
  readonly requestTimeoutMs?: number;
  /** How long ARM is left alone after a 429. */
  readonly throttle?: ThrottleBounds;
}

const defaultRequestTimeoutMs = 20_000;
const defaultThrottle: ThrottleBounds = { firstMs: 10_000, lastMs: 60_000, longestMs: 300_000 };

/** The Azure SDK, set up so that it neither retries nor hides what ARM answered. */
export class ArmClient {
  readonly #capture = new ResponseCapture();
  readonly #http = createDefaultHttpClient();
  readonly #throttle: Throttle;
  readonly #requestTimeoutMs: number;
  /** One object for all clients: connections are kept by it. */
  readonly #tlsOptions: { readonly ca: string } | undefined;
  #sdk: ComputeManagementClient;

  constructor(private readonly settings: ArmSettings) {
    const { caPem, requestTimeoutMs, throttle } = settings;
    this.#requestTimeoutMs = requestTimeoutMs ?? defaultRequestTimeoutMs;
    this.#throttle = new Throttle(throttle ?? defaultThrottle);
    this.#tlsOptions = caPem === undefined ? undefined : { ca: caPem };
    this.#sdk = this.#createSdk();
  }

  /**
   * One call of the SDK, with a deadline of its own.
   * @param what the request in words, e.g. `read VM x`
   * @throws ArmError with what the answer itself said, or that such requests are throttled
   */
  async call<T>(
    kind: RequestKind,
    what: string,
    call: (sdk: ComputeManagementClient, signal: AbortSignal, capture: Capture) => Promise<T>,
  ): Promise<T> {
    const waitMs = this.#throttle.waitMs(kind);
    if (waitMs !== undefined) throw new ArmError(`${what}: not sent, ARM throttles it`, 429, '', waitMs);
    const sdk = this.#sdk;
    return await this.#capture.run(async (capture) => {
      try {
        return await call(sdk, AbortSignal.timeout(this.#requestTimeoutMs), capture);
      } catch (error) {
        throw this.#explain(kind, what, error, capture);
      } finally {
        const { last } = capture;
        if (last?.status === 401 && this.#sdk === sdk) this.#sdk = this.#createSdk();
        if (last !== undefined && last.status !== 429) this.#throttle.answered(kind);
      }
    });
  }

  /**
   * One request to a resource of another provider, which this SDK has no methods for.
   * @param resourceId begins with `/subscriptions/`
   * @returns false when there is no such resource
   * @throws ArmError for any other refusal
   */
  async send(
    kind: RequestKind,
    what: string,
    method: 'GET' | 'DELETE',
    resourceId: string,
    apiVersion: string,
  ): Promise<boolean> {
    return await this.call(kind, what, async (sdk, signal, capture) => {
      const url = new URL(`${resourceId}?api-version=${apiVersion}`, this.settings.endpoint).toString();
      const request = createPipelineRequest({ url, method, abortSignal: signal });
      const { status } = await sdk.pipeline.sendRequest(this.#http, request);
      if (isNotFound(capture)) return false;
      if (status >= 400) throw new Error(`HTTP ${status}`);
      return true;
    });
  }

  #explain(kind: RequestKind, what: string, error: unknown, { last }: Capture): ArmError {
    if (last === undefined || last.status < 400) {
      return new ArmError(`${what}: no answer: ${errorMessage(error)}`, undefined, '', undefined);
    }
    const { status, retryAfterMs } = last;
    const { code, message } = last.error ?? { code: '', message: `HTTP ${status}` };
    if (status === 429) this.#throttle.close(kind, retryAfterMs);
    const waitMs = status === 429 ? this.#throttle.waitMs(kind) : retryAfterMs;
    return new ArmError(`${what}: ${code} ${message}`.trim(), status, code, waitMs, message);
  }

  /** A client keeps its token until shortly before its end. */
  #createSdk(): ComputeManagementClient {
    const { createCredential, subscriptionId, endpoint } = this.settings;
    return new ComputeManagementClient(createCredential(), subscriptionId, {
      endpoint,
      // Temporal retries: the SDK would sleep inside the call, for as long as Retry-After says.
      retryOptions: { maxRetries: 0 },
      ...(this.#tlsOptions === undefined ? {} : { tlsOptions: this.#tlsOptions }),
      additionalPolicies: [{ policy: this.#capture.policy, position: 'perRetry' }],
    });
  }
}
