import { ArmError } from './armError.js';
import type { ArmRequest } from './armRequest.js';

/** Small, so that clients follow nextLink also in a small demo. */
const pageSize = 50;
const tokenName = '$skiptoken';

interface Sequenced {
  /** Grows with each resource made: paging goes by it, so that a deletion between two pages loses nothing. */
  readonly sequence: number;
}

/** One page of resources, in the order of their making, with a link to the next page if there is one. */
export function listPage<T extends Sequenced>(
  request: ArmRequest,
  resources: readonly T[],
  render: (resource: T) => object,
): object {
  const token = request.query.get(tokenName) ?? '0';
  if (!/^\d+$/.test(token)) {
    throw new ArmError(400, 'BadRequest', `The value of ${tokenName} is not one that a nextLink carried.`);
  }
  const rest = resources.filter((resource) => resource.sequence > Number(token));
  const page = rest.slice(0, pageSize);
  const last = page.at(-1);
  const value = page.map(render);
  if (last === undefined || rest.length <= pageSize) return { value };
  const query = new URLSearchParams(request.query);
  query.set(tokenName, String(last.sequence));
  return { value, nextLink: `${request.origin}${request.path}?${query.toString()}` };
}
