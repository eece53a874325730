import type { Pod } from './api.js';
import { isOwnedByDaemonSet, isReschedulable, isTerminal } from './pods.js';
import type { Resources } from './resources.js';
import { formatResources, podRequests, sumResources } from './resources.js';

/** What a replacement must be able to take in. */
export interface Shape {
  readonly requests: Resources;
  /** Where the volumes can be attached; undefined: anywhere. */
  readonly zones: readonly string[] | undefined;
}

/** The pods that the replacement will run: those that move, and the DaemonSets', of which it gets its own. */
export function podsToFit(pods: readonly Pod[]): readonly Pod[] {
  return pods.filter((pod) => isReschedulable(pod) || (isOwnedByDaemonSet(pod) && !isTerminal(pod)));
}

/** What all of these pods ask for together; what none asks for is left out. */
export function requestsOf(pods: readonly Pod[]): Resources {
  const sum = sumResources(...pods.map(podRequests));
  return Object.fromEntries(Object.entries(sum).filter(([, amount]) => amount > 0));
}

/** `cpu 2300m, memory 6442450944, pods 4, in westus2-1 for its volumes` */
export function describeShape({ requests, zones }: Shape): string {
  const amounts = Object.entries(formatResources(requests)).map(([name, quantity]) => `${name} ${quantity}`);
  const place = zones === undefined ? [] : [`in ${zones.join(' or ')} for its volumes`];
  const all = [...amounts, ...place];
  return all.length === 0 ? 'room for no pod' : all.join(', ');
}
