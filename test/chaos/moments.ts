import type { AzureAuditEntry } from '../../simulator/azure/audit.js';
import type { AzureSimulator } from '../../simulator/azure/azureSimulator.js';
import type { ClusterAuditEntry } from '../../simulator/cluster/audit.js';
import type { ClusterSimulator } from '../../simulator/cluster/clusterSimulator.js';
import type { Moment } from './plan.js';

type IsSeen =
  | { readonly log: 'azure'; readonly test: (entry: AzureAuditEntry) => boolean }
  | { readonly log: 'cluster'; readonly test: (entry: ClusterAuditEntry) => boolean };

function armRequest(method: string, part = ''): IsSeen {
  return {
    log: 'azure',
    test: (entry) => entry.kind === 'request' && entry.method === method && entry.path.toLowerCase().includes(part),
  };
}

function ourRequest(verb: ClusterAuditEntry['verb'], resource: string, subresource?: string): IsSeen {
  return {
    log: 'cluster',
    test: (entry) =>
      entry.userAgent === 'driftless/worker' &&
      entry.verb === verb &&
      entry.resource === resource &&
      (subresource === undefined || entry.subresource === subresource),
  };
}

/** The instants that hurt: each is seen when the work is done and nobody has been told yet. */
const moments = {
  vmAsked: armRequest('PUT'),
  operationRead: armRequest('GET', '/operations/'),
  vmDeleteAsked: armRequest('DELETE'),
  nodeWritten: ourRequest('patch', 'nodes'),
  nodeClaimCreated: ourRequest('create', 'nodeclaims'),
  nodeClaimStatusWritten: ourRequest('patch', 'nodeclaims', 'status'),
  nodeClaimDeleted: ourRequest('delete', 'nodeclaims'),
  podEvicted: ourRequest('evict', 'pods'),
  nodeDeleted: ourRequest('delete', 'nodes'),
} as const satisfies Readonly<Record<string, IsSeen>>;

export type MomentKind = keyof typeof moments;

function isKind(name: string): name is MomentKind {
  return name in moments;
}

export const momentKinds: readonly MomentKind[] = Object.keys(moments).filter(isKind);

interface Simulators {
  readonly azure: AzureSimulator;
  readonly cluster: Pick<ClusterSimulator, 'audit'>;
}

/** Calls the action once, within the very request that makes the moment; answers how to call it off. */
export function atMoment({ azure, cluster }: Simulators, { kind, count }: Moment, action: () => void): () => void {
  let seen = 0;
  const notice = (): void => {
    seen += 1;
    if (seen !== count) return;
    stop();
    action();
  };
  const moment: IsSeen = moments[kind];
  const stop =
    moment.log === 'azure'
      ? azure.audit.onAppend((entry) => {
          if (moment.test(entry)) notice();
        })
      : cluster.audit.onAppend((entry) => {
          if (moment.test(entry)) notice();
        });
  return stop;
}
