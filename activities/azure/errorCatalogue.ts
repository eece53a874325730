import type { ArmError } from './armError.js';
import type { ErrorClass, Unavailability } from './createErrors.js';
import { createErrors } from './createErrors.js';

/** What an error on the create of a VM means. */
export interface Assessment {
  readonly errorClass: ErrorClass;
  /** What to leave alone for a while. */
  readonly unavailable?: Unavailability;
  /** False for an error that the catalogue does not have: it is to be reported. */
  readonly isKnown: boolean;
}

/** The answer to a create: its HTTP status decides first, since one code stands for throttling and for quota, then code and message. */
export function assessRefusal({ status, code, azureMessage }: ArmError): Assessment {
  if (status === undefined || status === 401 || status === 408 || status === 429 || status >= 500) {
    return { errorClass: 'transient', isKnown: true };
  }
  return assessError(code, azureMessage);
}

/** A create that ended with an error of Azure's; one that is unknown is taken for one that a person has to look at. */
export function assessError(code: string, message: string): Assessment {
  const known = createErrors.find((entry) => entry.code === code && (entry.says?.test(message) ?? true));
  if (known === undefined) return { errorClass: 'needsHuman', isKnown: false };
  const { errorClass, unavailable } = known;
  return { errorClass, isKnown: true, ...(unavailable === undefined ? {} : { unavailable }) };
}
