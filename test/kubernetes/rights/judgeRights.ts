import type { AuditedRequest } from './auditedRequests.js';
import type { Right } from './grantedRights.js';

const forbidden = 403;

/** What is wrong with the rights that somebody has, by all that he has asked for; each in words. */
export interface Judgement {
  /** Requests that were refused. */
  readonly refused: readonly string[];
  /** Requests that something else allows than these rights. */
  readonly allowedElsewhere: readonly string[];
  /** Rights without which nothing would have been refused. */
  readonly unneeded: readonly string[];
  /** Rights that hold for more names or namespaces than were asked for. */
  readonly tooWide: readonly string[];
}

function covers(right: Right, request: AuditedRequest): boolean {
  return (
    right.verb === request.verb &&
    right.apiGroup === request.apiGroup &&
    right.resource === request.resource &&
    (right.namespace === undefined || right.namespace === request.namespace) &&
    (right.name === undefined || right.name === request.name)
  );
}

function inWords({ verb, apiGroup, resource, namespace, name }: Omit<Right, 'role'>): string {
  const what = apiGroup === '' ? resource : `${resource}.${apiGroup}`;
  return [verb, what, name, namespace === undefined ? undefined : `in ${namespace}`]
    .filter((part) => part !== undefined)
    .join(' ');
}

/** The one value that all have; undefined when there is none, or some have no value. */
function onlyOne(values: readonly (string | undefined)[]): string | undefined {
  const [first, ...others] = new Set(values);
  return others.length === 0 ? first : undefined;
}

function tooWideWhy(right: Right, requests: readonly AuditedRequest[]): string | undefined {
  const namespace = right.namespace ?? onlyOne(requests.map((request) => request.namespace));
  // RBAC binds no create to a name: as a rule the name is not in the request.
  const isNameable = right.name === undefined && right.verb !== 'create';
  const name = isNameable ? onlyOne(requests.map((request) => request.name)) : right.name;
  if (namespace === right.namespace && name === right.name) return undefined;
  return `${right.role}: ${inWords(right)}; only needed: ${inWords({ ...right, namespace, name })}`;
}

/** Holds what somebody may do against what he has asked for. */
export function judgeRights(rights: readonly Right[], requests: readonly AuditedRequest[]): Judgement {
  const refused = requests.filter(({ code }) => code === forbidden);
  const allowed = requests.filter(({ code }) => code !== forbidden);
  const coveredBy = allowed.map((request) => ({ request, by: rights.filter((right) => covers(right, request)) }));
  const requestsOf = new Map(
    rights.map((right) => {
      // What another right allows as well does not need this one.
      const own = coveredBy.filter(({ by }) => by.length === 1 && by[0] === right);
      return [right, own.map(({ request }) => request)];
    }),
  );
  const isNeeded = ([, own]: readonly [Right, readonly AuditedRequest[]]): boolean => own.length > 0;
  return {
    refused: distinct(refused.map((request) => `${inWords(request)}: ${request.message}`)),
    allowedElsewhere: distinct(coveredBy.filter(({ by }) => by.length === 0).map(({ request }) => inWords(request))),
    unneeded: [...requestsOf].filter((entry) => !isNeeded(entry)).map(([right]) => `${right.role}: ${inWords(right)}`),
    tooWide: [...requestsOf]
      .filter(isNeeded)
      .map(([right, own]) => tooWideWhy(right, own))
      .filter((why) => why !== undefined),
  };
}

function distinct(lines: readonly string[]): readonly string[] {
  return [...new Set(lines)];
}
