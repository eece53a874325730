import type { Event } from '../../karpenter/api.js';
import type { NodeWhy } from '../../karpenter/why.js';

/** What `driftless why -o json` answers about a node of a NodePool; `answer.kind` tells the cases apart. */
export interface WhyReport extends NodeWhy {
  /** ISO 8601. */
  readonly at: string;
  /** The latest Events on it and on its counterpart, the latest first. */
  readonly events: readonly EventReport[];
}

/** What `driftless why -o json` answers about a node that belongs to no NodePool. */
export interface StrangerReport {
  readonly at: string;
  readonly nodePool: null;
  readonly nodeClaim: string | null;
  readonly node: string | null;
  readonly answer: { readonly kind: 'notOfNodePool'; readonly why: string };
}

/** One Event on a NodeClaim. */
export interface EventReport {
  readonly nodeClaim: string;
  /** ISO 8601; empty where the Event does not say. */
  readonly at: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** Older ones are about something else. */
const maxEvents = 10;

function reportEvent(nodeClaim: string, event: Event): EventReport {
  return {
    nodeClaim,
    at: event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? '',
    type: event.type ?? '',
    reason: event.reason ?? '',
    message: event.message ?? '',
  };
}

/** The latest Events of several NodeClaims, the latest first. */
export function latestEvents(eventsByNodeClaim: ReadonlyMap<string, readonly Event[]>): readonly EventReport[] {
  return [...eventsByNodeClaim]
    .flatMap(([nodeClaim, events]) => events.map((event) => reportEvent(nodeClaim, event)))
    .sort((a, b) => b.at.localeCompare(a.at, 'en'))
    .slice(0, maxEvents);
}
