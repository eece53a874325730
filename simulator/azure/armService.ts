import { errorMessage } from '../../runtime/errors.js';
import type { RequestEffect } from './faults.js';
import { ArmError } from './protocol/armError.js';
import type { ArmAnswer, ArmRequest } from './protocol/armRequest.js';
import type { Exchange } from './protocol/exchange.js';
import type { Gateway } from './protocol/gateway.js';
import { retryAfterHeaders } from './protocol/responseHeaders.js';
import type { Route } from './protocol/routes.js';
import type { RequestContext } from './requests/context.js';
import { dispatch, faultNameOf, faultPointOf, virtualMachineOf } from './requests/dispatch.js';

function errorAnswer(error: ArmError): ArmAnswer {
  return { status: error.status, body: error.body, headers: error.extras.headers };
}

/** Anything else than an ArmError is a mistake in the simulator: the client is told. */
function asArmError(error: unknown): ArmError {
  if (error instanceof ArmError) return error;
  return new ArmError(500, 'InternalServerError', `The simulator failed: ${errorMessage(error)}`);
}

/** What stands behind the HTTPS server: ARM's gateway, the faults, then the resource providers. */
export class ArmService {
  constructor(
    private readonly context: RequestContext,
    private readonly gateway: Gateway,
  ) {}

  /** Ends the exchange, now or later: with an answer, or as a fault wants it. */
  serve(exchange: Exchange): void {
    const admitted = this.#admit(exchange.request);
    if (admitted instanceof ArmError) {
      exchange.answer(errorAnswer(admitted));
      return;
    }
    const { request } = exchange;
    exchange.virtualMachine = virtualMachineOf(this.context, admitted);
    const point = faultPointOf(request, admitted);
    const effect =
      point === undefined
        ? undefined
        : this.context.faults.takeRequestEffect(point, faultNameOf(this.context, admitted));
    if (effect === undefined) {
      exchange.answer(this.#process(request, admitted));
      return;
    }
    this.#applyEffect(effect, exchange, admitted);
  }

  #applyEffect(effect: RequestEffect, exchange: Exchange, route: Route): void {
    switch (effect.kind) {
      case 'requestFails':
        exchange.answer(this.#refusal(effect));
        return;
      case 'hang':
        exchange.hang();
        return;
      case 'reset':
        exchange.reset();
        return;
      case 'lostResponse':
        this.#process(exchange.request, route);
        exchange.reset();
        return;
      case 'delay':
        this.context.clock.after(effect.seconds * 1000, () => {
          exchange.answer(this.#process(exchange.request, route));
        });
        return;
    }
  }

  #refusal(effect: Extract<RequestEffect, { kind: 'requestFails' }>): ArmAnswer {
    const { status, code, message, details, retryAfterSeconds } = effect;
    const headers = retryAfterSeconds === undefined ? {} : retryAfterHeaders(this.context.clock, retryAfterSeconds);
    return errorAnswer(new ArmError(status, code, message, { details, headers }));
  }

  #admit(request: ArmRequest): Route | ArmError {
    try {
      return this.gateway.admit(request);
    } catch (error) {
      return asArmError(error);
    }
  }

  #process(request: ArmRequest, route: Route): ArmAnswer {
    try {
      return dispatch(this.context, request, route);
    } catch (error) {
      return errorAnswer(asArmError(error));
    }
  }
}
