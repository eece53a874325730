import type { Event } from '../../karpenter/api.js';
import { eventSchema } from '../../karpenter/api.js';
import type { KubernetesApi } from './kubernetesApi.js';
import { parseList } from './parse.js';
import { request } from './request.js';

/** A cluster-scoped object that an Event is about. */
export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export function nodeClaimSubject(name: string, uid: string): EventSubject {
  return { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name, uid };
}

/** Events of cluster-scoped objects live in the namespace `default`, where kubectl describe looks for them. */
const namespace = 'default';
/** The API server refuses longer ones. */
const maxMessageLength = 1024;

/** Records one Event. */
export async function recordEvent(
  api: KubernetesApi,
  subject: EventSubject,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): Promise<void> {
  const now = new Date();
  await request(`record an Event on ${subject.kind} ${subject.name}`, () =>
    api.core.createNamespacedEvent({
      namespace,
      body: {
        metadata: { generateName: `${subject.name}.`, namespace },
        involvedObject: { ...subject },
        type,
        reason,
        message: message.slice(0, maxMessageLength),
        source: { component: 'driftless' },
        firstTimestamp: now,
        lastTimestamp: now,
        count: 1,
      },
    }),
  );
}

/** The live Events about the object of that UID, in no order. */
export async function listEvents(
  api: KubernetesApi,
  { kind, name, uid }: Pick<EventSubject, 'kind' | 'name' | 'uid'>,
): Promise<readonly Event[]> {
  const list = await request(`list the Events of ${kind} ${name}`, () =>
    api.core.listNamespacedEvent({ namespace, fieldSelector: `involvedObject.uid=${uid}` }),
  );
  return parseList('Event', eventSchema, list).items;
}
