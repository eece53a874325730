import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';

import type { Access, RawAnswer } from '../../../demo/controlPlane/access.js';
import { sendRaw } from '../../../demo/controlPlane/access.js';
import { eventually } from '../../support/eventually.js';
import type { DeployedControlPlane } from '../rights/deployedControlPlane.js';
import { startDeployedControlPlane } from '../rights/deployedControlPlane.js';

const nodePools = '/apis/karpenter.sh/v1/nodepools';
const nodeClaims = '/apis/karpenter.sh/v1/nodeclaims';
const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' };
const mark = { 'driftless.dev/owner': 'a-temporal-namespace' };
const managed = { 'driftless.dev/managed': 'true' };

let controlPlane: DeployedControlPlane;
let worker: Access;

beforeAll(async () => {
  controlPlane = await startDeployedControlPlane();
  worker = await controlPlane.accessAs('driftless-worker');
  await createNodePool('managed', managed);
  await createNodePool('unmanaged', { 'driftless.dev/managed': 'false' });
  // An API server takes a moment to take up policies, and to list the NodePools for them.
  const probe = await createNodeClaim('probe', { nodePool: 'unmanaged' });
  await eventually(async () => {
    expect((await deleteAs(worker, probe, '?dryRun=All')).body).toMatchObject({
      message: expect.stringContaining('which is not annotated'),
    });
  });
}, 120_000);

afterAll(() => controlPlane.stop());

function send(access: Access, method: string, path: string, body: object, contentType = 'application/json') {
  return sendRaw(access, method, path, { body: JSON.stringify(body), headers: { 'Content-Type': contentType } });
}

async function create(path: string, manifest: object): Promise<string> {
  const answer = await send(controlPlane.access, 'POST', path, { apiVersion: 'karpenter.sh/v1', ...manifest });
  expect(answer).toMatchObject({ code: 201 });
  return z.object({ metadata: z.object({ uid: z.string() }) }).parse(answer.body).metadata.uid;
}

const uids = new Map<string, string>();

async function createNodePool(name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
  const spec = { template: { spec: { nodeClassRef, requirements: [] } } };
  uids.set(name, await create(nodePools, { kind: 'NodePool', metadata: { name, annotations }, spec }));
}

interface ClaimParts {
  /** By its label, and as its owner. */
  readonly nodePool?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

async function createNodeClaim(name: string, { nodePool, labels = {}, annotations = {} }: ClaimParts): Promise<string> {
  const owner = { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: nodePool, uid: uids.get(nodePool ?? '') };
  const own = nodePool === undefined ? {} : { 'karpenter.sh/nodepool': nodePool };
  const ownerReferences = nodePool === undefined ? [] : [owner];
  const metadata = { name, labels: { ...own, ...labels }, annotations, ownerReferences };
  await create(nodeClaims, { kind: 'NodeClaim', metadata, spec: { nodeClassRef, requirements: [] } });
  return name;
}

function deleteAs(access: Access, name: string, query = ''): Promise<RawAnswer> {
  return sendRaw(access, 'DELETE', `${nodeClaims}/${name}${query}`);
}

function patchAs(access: Access, name: string, metadata: object): Promise<RawAnswer> {
  return send(access, 'PATCH', `${nodeClaims}/${name}`, { metadata }, 'application/merge-patch+json');
}

function refusal(message: string): object {
  return { code: 403, body: expect.objectContaining({ message: expect.stringContaining(message) }) };
}

describe("the worker's deletes of NodeClaims", () => {
  it('pass for a NodeClaim of a managed NodePool', async () => {
    expect(await deleteAs(worker, await createNodeClaim('old', { nodePool: 'managed' }))).toMatchObject({ code: 200 });
  });

  it('pass for what carries our mark, wherever it belongs', async () => {
    const parts: readonly ClaimParts[] = [{}, { nodePool: 'unmanaged' }, { nodePool: 'managed' }];
    for (const [index, part] of parts.entries()) {
      const name = await createNodeClaim(`marked-${index}`, { ...part, annotations: mark });
      expect(await deleteAs(worker, name)).toMatchObject({ code: 200 });
    }
  });

  it('are refused for a NodeClaim of a NodePool that is not managed', async () => {
    const name = await createNodeClaim('unmanaged', { nodePool: 'unmanaged' });
    const why =
      'NodeClaim unmanaged carries no driftless.dev/owner and belongs to NodePool unmanaged, ' +
      'which is not annotated driftless.dev/managed: "true": Driftless does not delete it';
    expect(await deleteAs(worker, name)).toMatchObject(refusal(why));
  });

  it('are refused for a NodeClaim of no NodePool, and for one that only says so', async () => {
    const labels = { 'karpenter.sh/nodepool': 'managed' };
    for (const name of [await createNodeClaim('alone', {}), await createNodeClaim('pretender', { labels })]) {
      const why = `NodeClaim ${name} carries no driftless.dev/owner and is owned by no NodePool`;
      expect(await deleteAs(worker, name)).toMatchObject(refusal(why));
    }
  });

  it('cannot be prepared by a mark, a label or an owner of its own making', async () => {
    const name = await createNodeClaim('coveted', { nodePool: 'unmanaged' });
    const owner = { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: 'managed', uid: uids.get('managed') };
    const changes = [
      { annotations: mark },
      { labels: { 'karpenter.sh/nodepool': 'managed' } },
      { ownerReferences: [owner] },
    ];
    for (const change of changes)
      expect(await patchAs(worker, name, change)).toMatchObject(
        refusal(`NodeClaim ${name}: Driftless changes neither`),
      );
    // What it does write.
    const annotations = { 'karpenter.sh/nodeclaim-termination-timestamp': '2026-01-01T00:00:00Z' };
    const finalizers = ['karpenter.sh/termination'];
    expect(await patchAs(worker, name, { annotations, finalizers })).toMatchObject({ code: 200 });
    expect(await patchAs(worker, name, { finalizers: [] })).toMatchObject({ code: 200 });
  });

  it('are nobody else’s: a person deletes and marks what he likes', async () => {
    const name = await createNodeClaim('foreign', {});
    expect(await patchAs(controlPlane.access, name, { annotations: mark })).toMatchObject({ code: 200 });
    expect(await patchAs(controlPlane.access, name, { annotations: null })).toMatchObject({ code: 200 });
    expect(await deleteAs(controlPlane.access, name)).toMatchObject({ code: 200 });
  });

  it('are refused once the NodePool is not managed any more', async () => {
    const name = await createNodeClaim('orphaned', { nodePool: 'managed' });
    expect(await deleteAs(worker, name, '?dryRun=All')).toMatchObject({ code: 200 });
    const body = { metadata: { annotations: { 'driftless.dev/managed': null } } };
    await send(controlPlane.access, 'PATCH', `${nodePools}/managed`, body, 'application/merge-patch+json');
    await eventually(async () => {
      expect(await deleteAs(worker, name, '?dryRun=All')).toMatchObject(
        refusal('belongs to NodePool managed, which is'),
      );
    });
  });

  it('are refused without any NodePool in the cluster, and a person’s are not', async () => {
    await sendRaw(controlPlane.access, 'DELETE', nodePools);
    await eventually(async () => {
      const { body } = await sendRaw(controlPlane.access, 'GET', nodePools);
      expect(body).toMatchObject({ items: [] });
    });
    const name = await createNodeClaim('last', {});
    expect(await deleteAs(worker, name)).toMatchObject(refusal(`NodeClaim ${name} carries no driftless.dev/owner`));
    expect(await deleteAs(controlPlane.access, name)).toMatchObject({ code: 200 });
  });
});
