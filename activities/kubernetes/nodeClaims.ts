import type { z } from 'zod';

import type { Condition, NodeClaim } from '../../karpenter/api.js';
import { nodeClaimSchema } from '../../karpenter/api.js';
import { withCondition } from '../../karpenter/conditions.js';
import { nodePoolLabel } from '../../karpenter/labels.js';
import type { Collection } from './informer.js';
import type { KubernetesApi } from './kubernetesApi.js';
import { mergePatch } from './kubernetesApi.js';
import { pagedList } from './pagedList.js';
import { parseList, parseObject } from './parse.js';
import { hasCode, request, requestIfFound, retryOnConflict } from './request.js';

const resource = { group: 'karpenter.sh', version: 'v1', plural: 'nodeclaims' };

function parse(object: unknown): NodeClaim {
  return parseObject('NodeClaim', nodeClaimSchema, object);
}

/** What a status patch may set; conditions replace the whole list. */
export type NodeClaimStatus = Partial<z.input<typeof nodeClaimSchema>['status'] & object>;

export const nodeClaimCollection: Collection<NodeClaim> = {
  path: '/apis/karpenter.sh/v1/nodeclaims',
  list: pagedList('NodeClaim', nodeClaimSchema, (api, page) =>
    api.custom.listClusterCustomObject({ ...resource, ...page }),
  ),
  parse,
  key: ({ metadata }) => metadata.name,
};

/** The live NodeClaims of one NodePool. */
export async function listNodeClaims(api: KubernetesApi, nodePool: string): Promise<readonly NodeClaim[]> {
  const labelSelector = `${nodePoolLabel}=${nodePool}`;
  const list = await request<unknown>('list NodeClaims', () =>
    api.custom.listClusterCustomObject({ ...resource, labelSelector }),
  );
  return parseList('NodeClaim', nodeClaimSchema, list).items;
}

/** The live NodeClaim, or undefined when there is none of that name. */
export async function readNodeClaim(api: KubernetesApi, name: string): Promise<NodeClaim | undefined> {
  const object = await requestIfFound<unknown>(`read NodeClaim ${name}`, () =>
    api.custom.getClusterCustomObject({ ...resource, name }),
  );
  return object === undefined ? undefined : parse(object);
}

/** Creates a NodeClaim, or answers the one that has the name already. */
export async function createNodeClaim(api: KubernetesApi, name: string, manifest: object): Promise<NodeClaim> {
  try {
    return parse(
      await request(`create NodeClaim ${name}`, () =>
        api.custom.createClusterCustomObject({ ...resource, body: manifest }),
      ),
    );
  } catch (error) {
    const existing = hasCode(error, 409) ? await readNodeClaim(api, name) : undefined;
    if (existing === undefined) throw error;
    return existing;
  }
}

/**
 * Changes the status of a NodeClaim that still has that UID; a NodeClaim that is gone is left alone.
 * @param change answers what to set, from the live object; undefined when nothing has to change
 */
export async function updateNodeClaimStatus(
  api: KubernetesApi,
  name: string,
  uid: string,
  change: (nodeClaim: NodeClaim) => NodeClaimStatus | undefined,
): Promise<void> {
  await retryOnConflict(async () => {
    const nodeClaim = await readNodeClaim(api, name);
    if (nodeClaim?.metadata.uid !== uid) return;
    const status = change(nodeClaim);
    if (status === undefined) return;
    const body = { metadata: { resourceVersion: nodeClaim.metadata.resourceVersion }, status };
    await requestIfFound(`write the status of NodeClaim ${name}`, () =>
      api.custom.patchClusterCustomObjectStatus({ ...resource, name, body }, mergePatch),
    );
  });
}

/**
 * Sets one condition of a NodeClaim that still has that UID, and what else of its status is given.
 * @param also further fields of the status
 */
export async function setNodeClaimCondition(
  api: KubernetesApi,
  name: string,
  uid: string,
  condition: Omit<Condition, 'lastTransitionTime'>,
  also: NodeClaimStatus = {},
): Promise<void> {
  await updateNodeClaimStatus(api, name, uid, ({ status }) => {
    const before = status?.conditions ?? [];
    const conditions = withCondition(before, condition, new Date().toISOString());
    const isUnchanged = conditions === before && Object.keys(also).length === 0;
    return isUnchanged ? undefined : { ...also, conditions: [...conditions] };
  });
}

/** A condition that holds and has no more to say. */
export function trueCondition(type: string): Omit<Condition, 'lastTransitionTime'> {
  return { type, status: 'True', reason: type, message: '' };
}

/** Puts a finalizer on, or takes it off, a NodeClaim that still has that UID. */
export async function setFinalizer(
  api: KubernetesApi,
  name: string,
  uid: string,
  finalizer: string,
  wanted: boolean,
): Promise<void> {
  await retryOnConflict(async () => {
    const nodeClaim = await readNodeClaim(api, name);
    if (nodeClaim?.metadata.uid !== uid) return;
    const finalizers = nodeClaim.metadata.finalizers ?? [];
    if (finalizers.includes(finalizer) === wanted) return;
    // The API server lets nobody add a finalizer to what is being deleted.
    if (wanted && nodeClaim.metadata.deletionTimestamp !== undefined) return;
    const others = finalizers.filter((other) => other !== finalizer);
    const body = {
      metadata: {
        resourceVersion: nodeClaim.metadata.resourceVersion,
        finalizers: wanted ? [...others, finalizer] : others,
      },
    };
    await requestIfFound(`write the finalizers of NodeClaim ${name}`, () =>
      api.custom.patchClusterCustomObject({ ...resource, name, body }, mergePatch),
    );
  });
}

/**
 * Sets one annotation of a NodeClaim that still has that UID, or takes it off; a NodeClaim that is gone is left alone.
 * @param change answers the annotation's value from the live object; null takes it off, undefined when nothing has to change
 */
export async function annotateNodeClaim(
  api: KubernetesApi,
  name: string,
  uid: string,
  annotation: string,
  change: (nodeClaim: NodeClaim) => string | null | undefined,
): Promise<void> {
  await retryOnConflict(async () => {
    const nodeClaim = await readNodeClaim(api, name);
    if (nodeClaim?.metadata.uid !== uid) return;
    const value = change(nodeClaim);
    if (value === undefined) return;
    const { resourceVersion } = nodeClaim.metadata;
    const body = { metadata: { resourceVersion, annotations: { [annotation]: value } } };
    await requestIfFound(`annotate NodeClaim ${name}`, () =>
      api.custom.patchClusterCustomObject({ ...resource, name, body }, mergePatch),
    );
  });
}

/** Deletes a NodeClaim that still has that UID; one that is gone, or another of that name, is left alone. */
export async function deleteNodeClaim(api: KubernetesApi, name: string, uid: string): Promise<void> {
  try {
    await requestIfFound(`delete NodeClaim ${name}`, () =>
      api.custom.deleteClusterCustomObject({ ...resource, name, body: { preconditions: { uid } } }),
    );
  } catch (error) {
    if (!hasCode(error, 409)) throw error;
  }
}
