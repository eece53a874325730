import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { ConformanceServer } from './conformanceServer.js';
import { startConformanceServer } from './conformanceServer.js';
import { metadataOf } from './metadata.js';

let server: ConformanceServer;
let configMaps: string;

beforeAll(async () => {
  server = await startConformanceServer();
  configMaps = `/api/v1/namespaces/${server.own}/configmaps`;
});

afterAll(async () => {
  await server.close();
});

const nodePools = '/apis/karpenter.sh/v1/nodepools';

function nodePool(name: string): Record<string, unknown> {
  const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' };
  const spec = { template: { spec: { nodeClassRef, requirements: [] } } };
  return { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name }, spec };
}

describe('create', () => {
  it('fills in what only the server knows', async () => {
    const { code, body } = await server.send('POST', configMaps, { metadata: { name: 'fresh' }, data: { a: '1' } });
    expect(code).toBe(201);
    expect(body).toMatchObject({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        name: 'fresh',
        namespace: server.own,
        uid: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        resourceVersion: expect.stringMatching(/^\d+$/),
        creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      },
      data: { a: '1' },
    });
    expect((await server.send('GET', `${configMaps}/fresh`)).body).toEqual(body);
  });

  it('generates names, within 63 characters', async () => {
    const short = await server.send('POST', configMaps, { metadata: { generateName: 'made-' } });
    expect(metadataOf(short.body).name).toMatch(/^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    const long = await server.send('POST', configMaps, { metadata: { generateName: 'x'.repeat(100) } });
    expect(metadataOf(long.body).name).toHaveLength(63);
  });

  it('counts generations from 1 where there is a spec', async () => {
    const { body } = await server.send('POST', nodePools, nodePool(`${server.own}-generation`));
    expect(metadataOf(body).generation).toBe(1);
    const node = await server.send('POST', '/api/v1/nodes', { metadata: { name: `${server.own}-node` } });
    expect(metadataOf(node.body).generation).toBeUndefined();
  });

  it('adds what admission adds to every node and pod', async () => {
    const node = await server.send('POST', '/api/v1/nodes', { metadata: { name: `${server.own}-tainted` } });
    expect(node.body).toMatchObject({
      spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] },
    });
    const pod = { metadata: { name: 'tolerant' }, spec: { containers: [{ name: 'main', image: 'app:1' }] } };
    const { body } = await server.send('POST', `/api/v1/namespaces/${server.own}/pods`, pod);
    const toleration = (key: string) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });
    expect(body).toMatchObject({
      metadata: { generation: 1 },
      spec: {
        priority: 0,
        preemptionPolicy: 'PreemptLowerPriority',
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 30,
        dnsPolicy: 'ClusterFirst',
        schedulerName: 'default-scheduler',
        enableServiceLinks: true,
        securityContext: {},
        tolerations: [toleration('node.kubernetes.io/not-ready'), toleration('node.kubernetes.io/unreachable')],
        containers: [
          {
            name: 'main',
            image: 'app:1',
            resources: {},
            imagePullPolicy: 'IfNotPresent',
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
          },
        ],
      },
      status: { phase: 'Pending', qosClass: 'BestEffort' },
    });
  });

  it('drops fields that the type does not have, and says so', async () => {
    const { code, body, headers } = await server.send('POST', `${configMaps}?fieldValidation=Warn`, {
      metadata: { name: 'unknown-fields', color: 'red' },
      dat: { a: '1' },
    });
    expect(code).toBe(201);
    expect(body).not.toHaveProperty('dat');
    expect(body).not.toHaveProperty('metadata.color');
    expect(headers['warning']).toBe('299 - "unknown field \\"metadata.color\\"", 299 - "unknown field \\"dat\\""');
  });

  it('refuses fields that the type does not have when it is to be strict', async () => {
    const path = `/api/v1/namespaces/${server.own}/pods?fieldValidation=Strict`;
    const spec = { containers: [{ name: 'main', image: 'app:1', imagePolicy: 'Never' }], nodename: 'a' };
    const { code, body } = await server.send('POST', path, { metadata: { name: 'strict' }, spec });
    expect(code).toBe(400);
    expect(body).toMatchObject({
      reason: 'BadRequest',
      message:
        'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.containers[0].imagePolicy", unknown field "spec.nodename"',
    });
    const pool = { ...nodePool(`${server.own}-strict`), special: {} };
    const custom = await server.send('POST', `${nodePools}?fieldValidation=Strict`, pool);
    expect(custom.code).toBe(400);
    expect(custom.body).toMatchObject({
      message:
        'NodePool in version "v1" cannot be handled as a NodePool: strict decoding error: unknown field "special"',
    });
  });

  const refusals = [
    {
      why: 'a namespace that does not exist',
      path: () => '/api/v1/namespaces/nowhere/configmaps',
      body: () => ({ metadata: { name: 'a' } }),
      status: () => ({
        code: 404,
        reason: 'NotFound',
        message: 'namespaces "nowhere" not found',
        details: { name: 'nowhere', kind: 'namespaces' },
      }),
    },
    {
      why: 'a name that is taken',
      path: () => configMaps,
      body: () => ({ metadata: { name: 'kube-root-ca.test' } }),
      status: () => ({
        code: 409,
        reason: 'AlreadyExists',
        message: 'configmaps "kube-root-ca.test" already exists',
        details: { name: 'kube-root-ca.test', kind: 'configmaps' },
      }),
    },
    {
      why: 'a name that is no DNS subdomain',
      path: () => '/api/v1/nodes',
      body: () => ({ metadata: { name: 'Not_Good' } }),
      status: () => ({
        code: 422,
        reason: 'Invalid',
        message:
          "Node \"Not_Good\" is invalid: metadata.name: Invalid value: \"Not_Good\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        details: { name: 'Not_Good', kind: 'Node', causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name' }] },
      }),
    },
    {
      why: 'a label that is none',
      path: () => configMaps,
      body: () => ({ metadata: { name: 'labelled', labels: { a: 'b/c' } } }),
      status: () => ({ code: 422, details: { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.labels' }] } }),
    },
    {
      why: 'no name',
      path: () => configMaps,
      body: () => ({}),
      status: () => ({
        code: 422,
        message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
        details: { causes: [{ reason: 'FieldValueRequired', field: 'metadata.name' }] },
      }),
    },
    {
      why: 'another namespace than the one of the path',
      path: () => configMaps,
      body: () => ({ metadata: { name: 'a', namespace: 'kube-system' } }),
      status: () => ({
        code: 400,
        message: 'the namespace of the provided object does not match the namespace sent on the request',
      }),
    },
    {
      why: 'a resourceVersion',
      path: () => configMaps,
      body: () => ({ metadata: { name: 'a', resourceVersion: '5' } }),
      status: () => ({ code: 500, message: 'resourceVersion should not be set on objects to be created' }),
    },
    {
      why: 'a pod without containers',
      path: () => `/api/v1/namespaces/${server.own}/pods`,
      body: () => ({ metadata: { name: 'empty' }, spec: {} }),
      status: () => ({
        code: 422,
        message: 'Pod "empty" is invalid: spec.containers: Required value',
        details: { causes: [{ reason: 'FieldValueRequired', message: 'Required value', field: 'spec.containers' }] },
      }),
    },
    {
      why: 'a pod of an unknown priority class',
      path: () => `/api/v1/namespaces/${server.own}/pods`,
      body: () => ({ metadata: { name: 'vip' }, spec: { priorityClassName: 'vip', containers: [{ name: 'a' }] } }),
      status: () => ({ code: 403, message: 'pods "vip" is forbidden: no PriorityClass with name vip was found' }),
    },
    {
      why: 'another kind',
      path: () => configMaps,
      body: () => ({ kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } }),
      status: () => ({
        code: 400,
        message:
          'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
      }),
    },
    {
      why: 'another version',
      path: () => `/apis/apps/v1/namespaces/${server.own}/deployments`,
      body: () => ({ kind: 'Deployment', apiVersion: 'apps/v1beta1', metadata: { name: 'a' } }),
      status: () => ({
        code: 400,
        message: 'the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)',
      }),
    },
    {
      why: 'a field of a wrong type',
      path: () => configMaps,
      body: () => ({ metadata: { name: 'a', labels: { x: 1 } } }),
      status: () => ({
        code: 400,
        reason: 'BadRequest',
        message:
          'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
      }),
    },
  ];
  beforeAll(async () => {
    await server.send('POST', configMaps, { metadata: { name: 'kube-root-ca.test' } });
  });
  it.each(refusals)('refuses $why', async ({ path, body, status }) => {
    const answer = await server.send('POST', path(), body());
    expect(answer.code).toBe(status().code);
    expect(answer.body).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', ...status() });
  });
});

describe('update', () => {
  const create = async (name: string) => (await server.send('POST', configMaps, { metadata: { name } })).body;

  it('replaces what is there, at the version that the client read', async () => {
    const read = metadataOf(await create('replaced'));
    const next = { metadata: { name: 'replaced', resourceVersion: read.resourceVersion }, data: { a: '2' } };
    const { code, body } = await server.send('PUT', `${configMaps}/replaced`, next);
    expect(code).toBe(200);
    expect(body).toMatchObject({ metadata: { uid: read.uid }, data: { a: '2' } });
    const stale = await server.send('PUT', `${configMaps}/replaced`, next);
    expect(stale.code).toBe(409);
    expect(stale.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message:
        'Operation cannot be fulfilled on configmaps "replaced": the object has been modified; please apply your changes to the latest version and try again',
      reason: 'Conflict',
      details: { name: 'replaced', kind: 'configmaps' },
      code: 409,
    });
  });

  it('is no write when nothing changes', async () => {
    const { resourceVersion } = metadataOf(await create('unchanged'));
    const { body } = await server.send('PUT', `${configMaps}/unchanged`, { metadata: { name: 'unchanged' } });
    expect(metadataOf(body).resourceVersion).toBe(resourceVersion);
  });

  it('means the object with that uid', async () => {
    const { uid } = metadataOf(await create('by-uid'));
    const other = uid.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
    const answer = await server.send('PUT', `${configMaps}/by-uid`, { metadata: { name: 'by-uid', uid: other } });
    expect(answer.code).toBe(409);
    expect(answer.body).toMatchObject({
      message: `Operation cannot be fulfilled on configmaps "by-uid": StorageError: invalid object, Code: 4, Key: /registry/configmaps/${server.own}/by-uid, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${other}, UID in object meta: ${uid}`,
    });
  });

  it('needs the name of the path', async () => {
    await create('named');
    const answer = await server.send('PUT', `${configMaps}/named`, { metadata: { name: 'other' } });
    expect(answer.code).toBe(400);
    expect(answer.body).toMatchObject({
      message: 'the name of the object (other) does not match the name on the URL (named)',
    });
  });

  it('of what is not there is 404, but creates a Lease or an Event', async () => {
    const absent = await server.send('PUT', `${configMaps}/absent`, { metadata: { name: 'absent' } });
    expect(absent.code).toBe(404);
    expect(absent.body).toMatchObject({ message: 'configmaps "absent" not found', reason: 'NotFound' });
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${server.own}/leases`;
    expect(await server.send('PUT', `${leases}/absent`, { metadata: { name: 'absent' }, spec: {} })).toMatchObject({
      code: 201,
      body: { kind: 'Lease', metadata: { name: 'absent' } },
    });
  });

  it('of a custom resource needs a resourceVersion, and counts changes of the spec', async () => {
    const name = `${server.own}-updated`;
    const { body } = await server.send('POST', nodePools, nodePool(name));
    const { resourceVersion } = metadataOf(body);
    const without = await server.send('PUT', `${nodePools}/${name}`, nodePool(name));
    expect(without.code).toBe(422);
    expect(without.body).toMatchObject({
      message: `nodepools.karpenter.sh "${name}" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
    });
    const labelled = { ...nodePool(name), metadata: { name, resourceVersion, labels: { a: 'b' } } };
    const relabelled = await server.send('PUT', `${nodePools}/${name}`, labelled);
    expect(metadataOf(relabelled.body).generation).toBe(1);
    const patched = await server.send(
      'PATCH',
      `${nodePools}/${name}`,
      { spec: { weight: 5 } },
      { 'Content-Type': 'application/merge-patch+json' },
    );
    expect(metadataOf(patched.body).generation).toBe(2);
  });
});

describe('the status', () => {
  it('is written by its subresource only, and no other field is', async () => {
    const name = `${server.own}-status`;
    const { body } = await server.send('POST', nodePools, { ...nodePool(name), status: { nodes: 3 } });
    expect(body).not.toHaveProperty('status.nodes');
    const { resourceVersion } = metadataOf(body);
    const proposal = {
      ...nodePool(name),
      metadata: { name, resourceVersion, labels: { a: 'b' } },
      status: { nodes: 4 },
    };
    const main = await server.send('PUT', `${nodePools}/${name}`, proposal);
    expect(main.body).not.toHaveProperty('status.nodes');
    const at = metadataOf(main.body).resourceVersion;
    const status = {
      ...nodePool(name),
      metadata: { name, resourceVersion: at, labels: { c: 'd' } },
      status: { nodes: 4 },
    };
    const written = await server.send('PUT', `${nodePools}/${name}/status`, { ...status, spec: { template: {} } });
    expect(written.body).toMatchObject({ metadata: { labels: { a: 'b' }, generation: 1 }, status: { nodes: 4 } });
    expect(written.body).toHaveProperty('spec.template.spec.nodeClassRef.name', 'default');
  });

  it('of a built-in object takes labels and annotations along', async () => {
    const name = `${server.own}-node-status`;
    await server.send('POST', '/api/v1/nodes', { metadata: { name } });
    const { body } = await server.send(
      'PATCH',
      `/api/v1/nodes/${name}/status`,
      { metadata: { labels: { a: 'b' } }, spec: { unschedulable: true }, status: { phase: 'Running' } },
      { 'Content-Type': 'application/merge-patch+json' },
    );
    expect(body).toMatchObject({ metadata: { labels: { a: 'b' } }, status: { phase: 'Running' } });
    expect(body).not.toHaveProperty('spec.unschedulable');
  });
});

describe('delete', () => {
  it('answers with a Status that names the object, or with the object of a pod', async () => {
    const { body } = await server.send('POST', configMaps, { metadata: { name: 'gone' } });
    const { code, body: answer } = await server.send('DELETE', `${configMaps}/gone`);
    expect(code).toBe(200);
    expect(answer).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'gone', kind: 'configmaps', uid: metadataOf(body).uid },
    });
    expect((await server.send('DELETE', `${configMaps}/gone`)).body).toMatchObject({
      code: 404,
      message: 'configmaps "gone" not found',
    });
  });

  it('holds to its preconditions', async () => {
    const { body } = await server.send('POST', configMaps, { metadata: { name: 'guarded' } });
    const { uid, resourceVersion } = metadataOf(body);
    const remove = (preconditions: Record<string, string>) =>
      server.send('DELETE', `${configMaps}/guarded`, { kind: 'DeleteOptions', apiVersion: 'v1', preconditions });
    expect(await remove({ uid: 'other' })).toMatchObject({
      code: 409,
      body: {
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on ConfigMap "guarded": the UID in the precondition (other) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
      },
    });
    expect(await remove({ resourceVersion: '1' })).toMatchObject({
      code: 409,
      body: {
        message: `Operation cannot be fulfilled on ConfigMap "guarded": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
      },
    });
    expect((await remove({ uid, resourceVersion })).code).toBe(200);
  });
});
