import type { AzureFault, FaultEffect, FaultPoint, OperationEffect, RequestEffect } from './faults.js';
import { azureFaultSchema } from './faults.js';

interface PlannedFault {
  readonly fault: AzureFault;
  readonly name: RegExp | undefined;
  passed: number;
  applied: number;
}

function isOperationEffect(effect: FaultEffect): effect is OperationEffect {
  switch (effect.kind) {
    case 'operationFails':
    case 'operationCanceled':
    case 'operationNeverEnds':
    case 'operationGone':
    case 'operationUnnamed':
    case 'vanish':
      return true;
    case 'requestFails':
    case 'hang':
    case 'reset':
    case 'lostResponse':
    case 'delay':
      return false;
  }
}

/**
 * Which fault a request meets. At most one happens to the request itself and one to the operation that it starts; an operation's
 * fault counts only requests that were accepted, so that a refused one does not use it up. Nothing here is random.
 */
export class FaultPlan {
  readonly #faults: PlannedFault[] = [];

  /** @throws when the fault could never happen: see the schema */
  add(fault: AzureFault): void {
    azureFaultSchema.parse(fault);
    const name = fault.name === undefined ? undefined : new RegExp(fault.name);
    this.#faults.push({ fault, name, passed: 0, applied: 0 });
  }

  /** Asked once for each request, before anything else is done. On `getOperation` an operation can be gone. */
  takeRequestEffect(on: FaultPoint, name: string | undefined): RequestEffect | undefined {
    const effect = this.#take(on, name, (candidate) => !isOperationEffect(candidate));
    return effect === undefined || isOperationEffect(effect) ? undefined : effect;
  }

  /** Asked once for each operation that starts, and for each poll of one. */
  takeOperationEffect(on: FaultPoint, name: string): OperationEffect | undefined {
    const effect = this.#take(on, name, isOperationEffect);
    return effect !== undefined && isOperationEffect(effect) ? effect : undefined;
  }

  #take(on: FaultPoint, name: string | undefined, isWanted: (effect: FaultEffect) => boolean): FaultEffect | undefined {
    for (const planned of this.#faults) {
      const { fault } = planned;
      if (fault.on !== on || !isWanted(fault.then) || planned.applied >= (fault.count ?? 1)) continue;
      if (planned.name !== undefined && (name === undefined || !planned.name.test(name))) continue;
      if (planned.passed < (fault.after ?? 0)) {
        planned.passed += 1;
        continue;
      }
      planned.applied += 1;
      return fault.then;
    }
    return undefined;
  }
}
