import type { ClusterVerb } from './audit.js';
import type { StatusCause } from './statusErrors.js';
import { ApiError } from './statusErrors.js';

export type ClusterFaultEffect =
  | {
      readonly kind: 'fail';
      readonly status: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
      /** Of the Status body's details. */
      readonly causes?: readonly StatusCause[];
    }
  /** No answer ever. */
  | { readonly kind: 'hang' }
  /** The connection is destroyed, the request has no effect. */
  | { readonly kind: 'reset' }
  /** The request takes effect, then the connection is destroyed. */
  | { readonly kind: 'lostResponse' }
  | { readonly kind: 'delay'; readonly ms: number }
  /** A watch sends nothing more, but stays open. */
  | { readonly kind: 'silence' }
  /** A watch ends at once, in good order. */
  | { readonly kind: 'end' }
  /** A watch ends at once, with an ERROR event that carries this Status. */
  | { readonly kind: 'errorEvent'; readonly status: object };

/** What goes wrong, and for which requests. Whatever is not given matches all. */
export interface ClusterFault {
  readonly verb?: ClusterVerb;
  /** The plural. */
  readonly resource?: string;
  /** A regular expression for the name in the path, which a create does not have. */
  readonly name?: string;
  /** A regular expression. */
  readonly userAgent?: string;
  /** How many matching requests pass before the first one is hit. Default 0. */
  readonly after?: number;
  /** How many requests are hit. Default 1. */
  readonly count?: number;
  readonly then: ClusterFaultEffect;
}

/** What a fault looks at. */
export interface FaultTarget {
  readonly verb: ClusterVerb;
  readonly resource: string;
  readonly name?: string | undefined;
  readonly userAgent: string;
}

interface ActiveFault {
  readonly fault: ClusterFault;
  readonly name: RegExp | undefined;
  readonly userAgent: RegExp | undefined;
  toPass: number;
  toHit: number;
}

/** What a request is answered with that fails. */
export function injectedError(effect: Extract<ClusterFaultEffect, { kind: 'fail' }>): ApiError {
  const { status, reason, message, retryAfterSeconds, causes } = effect;
  const details = {
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(causes === undefined ? {} : { causes }),
  };
  return new ApiError(status, reason ?? '', message ?? `injected failure ${status}`, details);
}

/** What befalls a watch that is open, or has just been opened. */
export type WatchFaultEffect = Extract<ClusterFaultEffect, { kind: 'silence' | 'end' | 'errorEvent' }>;

export function isWatchEffect(effect: ClusterFaultEffect): effect is WatchFaultEffect {
  return effect.kind === 'silence' || effect.kind === 'end' || effect.kind === 'errorEvent';
}

function matches({ fault, name, userAgent }: ActiveFault, target: FaultTarget): boolean {
  if (isWatchEffect(fault.then) && target.verb !== 'watch') return false;
  if (fault.verb !== undefined && fault.verb !== target.verb) return false;
  if (fault.resource !== undefined && fault.resource !== target.resource) return false;
  if (name !== undefined && !name.test(target.name ?? '')) return false;
  return userAgent === undefined || userAgent.test(target.userAgent);
}

/** The faults that are still to come. */
export class FaultPlan {
  readonly #active: ActiveFault[] = [];

  /** @throws SyntaxError for a regular expression that is none */
  add(fault: ClusterFault): void {
    this.#active.push({
      fault,
      name: fault.name === undefined ? undefined : new RegExp(fault.name),
      userAgent: fault.userAgent === undefined ? undefined : new RegExp(fault.userAgent),
      toPass: fault.after ?? 0,
      toHit: fault.count ?? 1,
    });
  }

  /** The effect of the first fault that hits this request; that hit is then used up. */
  take(target: FaultTarget): ClusterFaultEffect | undefined {
    return this.#hit(target, this.#active)?.fault.then;
  }

  /** The effect of the first fault that hits this open watch, of those that can befall one; the others are left for requests. */
  takeForOpenWatch(target: FaultTarget): WatchFaultEffect | undefined {
    const effect = this.#hit(
      target,
      this.#active.filter(({ fault }) => isWatchEffect(fault.then)),
    )?.fault.then;
    return effect !== undefined && isWatchEffect(effect) ? effect : undefined;
  }

  #hit(target: FaultTarget, faults: readonly ActiveFault[]): ActiveFault | undefined {
    for (const active of faults) {
      if (active.toHit === 0 || !matches(active, target)) continue;
      if (active.toPass > 0) {
        active.toPass -= 1;
        continue;
      }
      active.toHit -= 1;
      return active;
    }
    return undefined;
  }
}
