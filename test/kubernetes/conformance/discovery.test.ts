import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';

import type { ConformanceServer } from './conformanceServer.js';
import { startConformanceServer } from './conformanceServer.js';
import { watch } from './watchLines.js';

let server: ConformanceServer;

beforeAll(async () => {
  server = await startConformanceServer();
});

afterAll(async () => {
  await server.close();
});

const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io';

describe('discovery', () => {
  const resource = (name: string, more: Record<string, unknown>) => expect.objectContaining({ name, ...more });

  it.each([
    {
      path: '/api/v1',
      resources: [
        resource('nodes', { singularName: 'node', namespaced: false, kind: 'Node', shortNames: ['no'] }),
        resource('pods', {
          singularName: 'pod',
          namespaced: true,
          kind: 'Pod',
          shortNames: ['po'],
          categories: ['all'],
        }),
        resource('pods/eviction', {
          namespaced: true,
          group: 'policy',
          version: 'v1',
          kind: 'Eviction',
          verbs: ['create'],
        }),
        resource('nodes/status', { kind: 'Node', verbs: ['get', 'patch', 'update'] }),
      ],
    },
    {
      path: '/apis/karpenter.sh/v1',
      resources: [
        resource('nodepools', {
          singularName: 'nodepool',
          namespaced: false,
          kind: 'NodePool',
          categories: ['karpenter'],
        }),
        resource('nodeclaims/status', { kind: 'NodeClaim' }),
      ],
    },
    {
      path: '/apis/policy/v1',
      resources: [resource('poddisruptionbudgets', { kind: 'PodDisruptionBudget', shortNames: ['pdb'] })],
    },
    { path: '/apis/coordination.k8s.io/v1', resources: [resource('leases', { kind: 'Lease', namespaced: true })] },
  ])('of $path names its resources', async ({ path, resources }) => {
    expect(await server.send('GET', path)).toMatchObject({
      code: 200,
      body: { kind: 'APIResourceList', resources: expect.arrayContaining(resources) },
    });
  });

  it('names the groups', async () => {
    const group = (name: string) => expect.objectContaining({ name, preferredVersion: expect.anything() });
    expect((await server.send('GET', '/apis')).body).toMatchObject({
      kind: 'APIGroupList',
      groups: expect.arrayContaining(['apps', 'policy', 'coordination.k8s.io', 'karpenter.sh'].map(group)),
    });
    expect((await server.send('GET', '/api')).body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
  });

  it('has an OpenAPI document for each version of a group', async () => {
    const root = z.object({ paths: z.record(z.string(), z.object({ serverRelativeURL: z.string() })) });
    const { paths } = root.parse((await server.send('GET', '/openapi/v3')).body);
    const { body } = await server.send('GET', paths['apis/karpenter.sh/v1']?.serverRelativeURL ?? '');
    expect(body).toHaveProperty(['paths', '/apis/karpenter.sh/v1/nodepools/{name}', 'patch']);
  });
});

describe('a table', () => {
  const tableSchema = z.object({
    kind: z.literal('Table'),
    columnDefinitions: z.array(z.object({ name: z.string(), type: z.string(), priority: z.number() })),
    rows: z.array(z.object({ cells: z.array(z.unknown()), object: z.looseObject({}) })),
  });

  it.each([
    { path: '/api/v1/nodes', columns: 'Name,Status,Roles,Age,Version', wide: 5 },
    { path: '/api/v1/pods', columns: 'Name,Ready,Status,Restarts,Age', wide: 4 },
    { path: '/api/v1/events', columns: 'Last Seen,Type,Reason,Object,Message', wide: 5 },
    { path: '/api/v1/namespaces', columns: 'Name,Status,Age', wide: 0 },
    { path: '/api/v1/configmaps', columns: 'Name,Data,Age', wide: 0 },
    { path: '/api/v1/secrets', columns: 'Name,Type,Data,Age', wide: 0 },
    { path: '/apis/coordination.k8s.io/v1/leases', columns: 'Name,Holder,Age', wide: 0 },
    {
      path: '/apis/policy/v1/poddisruptionbudgets',
      columns: 'Name,Min Available,Max Unavailable,Allowed Disruptions,Age',
      wide: 0,
    },
    { path: '/apis/karpenter.sh/v1/nodepools', columns: 'Name,NodeClass,Nodes,Ready,Age', wide: 3 },
    { path: '/apis/karpenter.sh/v1/nodeclaims', columns: 'Name,Type,Capacity,Zone,Node,Ready,Age', wide: 5 },
  ])('of $path has the columns $columns', async ({ path, columns, wide }) => {
    const { body } = await server.send('GET', path, undefined, { Accept: tableType });
    const definitions = tableSchema.parse(body).columnDefinitions;
    const shown = definitions.filter(({ priority }) => priority === 0);
    expect(shown.map(({ name }) => name).join(',')).toBe(columns);
    expect(definitions.length - shown.length).toBe(wide);
  });

  it('has a row for each object, in lists and watches', async () => {
    const configMaps = `/api/v1/namespaces/${server.own}/configmaps`;
    await server.send('POST', configMaps, {
      metadata: { name: 'row', labels: { row: 'yes' } },
      data: { a: '1', b: '2' },
    });
    const path = `${configMaps}?labelSelector=row`;
    const { body } = await server.send('GET', path, undefined, { Accept: `${tableType},application/json` });
    const row = {
      cells: ['row', 2, expect.stringMatching(/^\d+s$/)],
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'row' } },
    };
    expect(tableSchema.parse(body).rows).toMatchObject([row]);
    const lines = await watch(server.access, `${path}&watch=true`, tableType);
    expect(await lines.next()).toMatchObject({ type: 'ADDED', object: { kind: 'Table', rows: [row] } });
    lines.close();
  });
});
