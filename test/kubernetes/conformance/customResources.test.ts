import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { ConformanceServer } from './conformanceServer.js';
import { startConformanceServer } from './conformanceServer.js';

let server: ConformanceServer;

beforeAll(async () => {
  server = await startConformanceServer();
});

afterAll(async () => {
  await server.close();
});

const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' };
const apiVersion = 'karpenter.sh/v1';
/** Added wherever the schema itself does not hold. */
const unchecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

const createPool = (spec: Record<string, unknown>, template: Record<string, unknown> = {}) =>
  server.send('POST', '/apis/karpenter.sh/v1/nodepools', {
    apiVersion,
    kind: 'NodePool',
    metadata: { generateName: `${server.own}-` },
    spec: { template: { spec: { nodeClassRef, requirements: [], ...template } }, ...spec },
  });
const createClaim = (spec: Record<string, unknown>) =>
  server.send('POST', '/apis/karpenter.sh/v1/nodeclaims', {
    apiVersion,
    kind: 'NodeClaim',
    metadata: { generateName: `${server.own}-` },
    spec: { nodeClassRef, requirements: [], ...spec },
  });

describe('a NodePool', () => {
  it('gets the defaults of its CRD', async () => {
    const { code, body } = await createPool({});
    expect(code).toBe(201);
    expect(body).toMatchObject({
      spec: {
        disruption: {
          budgets: [{ nodes: '10%' }],
          consolidateAfter: '0s',
          consolidationPolicy: 'WhenEmptyOrUnderutilized',
        },
        template: { spec: { expireAfter: '720h' } },
      },
    });
  });
  it('loses fields that its CRD does not have', async () => {
    const { body } = await createPool({ colour: 'red' });
    expect(body).not.toHaveProperty('spec.colour');
  });

  it.each([
    { why: 'a number of nodes in percent', budgets: [{ nodes: '35%' }], code: 201 },
    { why: 'more than 100 %', budgets: [{ nodes: '101%' }], code: 422 },
    { why: 'a number that is negative', budgets: [{ nodes: '-1' }], code: 422 },
    { why: 'a window', budgets: [{ nodes: '1', schedule: '0 9 * * mon-fri', duration: '8h' }], code: 201 },
    { why: 'a window without a duration', budgets: [{ nodes: '1', schedule: '@daily' }], code: 422 },
    { why: 'a duration without a schedule', budgets: [{ nodes: '1', duration: '8h' }], code: 422 },
    {
      why: 'r024: a duration with seconds',
      budgets: [{ nodes: '1', schedule: '@daily', duration: '8h30m0s' }],
      code: 201,
    },
    { why: 'a duration in days', budgets: [{ nodes: '1', schedule: '@daily', duration: '1d' }], code: 422 },
    { why: 'a schedule that is none', budgets: [{ nodes: '1', schedule: '* *', duration: '8h' }], code: 422 },
    { why: 'reasons', budgets: [{ nodes: '0', reasons: ['Drifted', 'Underutilized', 'Empty'] }], code: 201 },
    { why: 'r024: a reason that there is not', budgets: [{ nodes: '0', reasons: ['Expire'] }], code: 422 },
    { why: 'r022: a time zone, which is dropped', budgets: [{ nodes: '1', timeZone: 'Europe/Berlin' }], code: 201 },
  ])('with a budget of $why is answered by $code', async ({ budgets, code }) => {
    const answer = await createPool({ disruption: { budgets, consolidateAfter: '0s' } });
    expect(answer.code).toBe(code);
    if (code === 201) expect(answer.body).not.toHaveProperty('spec.disruption.budgets.0.timeZone');
  });

  it.each([
    { why: 'a requirement', requirements: [{ key: 'a', operator: 'In', values: ['b'] }], code: 201 },
    { why: 'a requirement without values', requirements: [{ key: 'a', operator: 'In' }], code: 422 },
    { why: 'an operator that there is not', requirements: [{ key: 'a', operator: 'Like', values: ['b'] }], code: 422 },
    { why: 'a bound', requirements: [{ key: 'a', operator: 'Gt', values: ['5'] }], code: 201 },
    { why: 'a bound that is no number', requirements: [{ key: 'a', operator: 'Gt', values: ['x'] }], code: 422 },
  ])('with $why is answered by $code', async ({ requirements, code }) => {
    expect((await createPool({}, { requirements })).code).toBe(code);
  });

  it('names what is wrong', async () => {
    const { body } = await createPool({ weight: 0 });
    expect(body).toMatchObject({
      reason: 'Invalid',
      message: expect.stringContaining(
        'is invalid: spec.weight: Invalid value: 0: spec.weight in body should be greater than or equal to 1',
      ),
      details: {
        group: 'karpenter.sh',
        kind: 'NodePool',
        causes: [{ reason: 'FieldValueInvalid', field: 'spec.weight' }],
      },
    });
  });
});

describe('a NodeClaim', () => {
  it('needs its requirements', async () => {
    const { code, body } = await createClaim({ requirements: undefined });
    expect(code).toBe(422);
    expect(body).toMatchObject({
      message: expect.stringMatching(/ is invalid: \[spec.requirements: Required value, <nil>: Invalid value: null: /),
      details: {
        causes: [
          { reason: 'FieldValueRequired', field: 'spec.requirements' },
          { reason: 'FieldValueInvalid', field: '<nil>', message: expect.stringContaining(unchecked) },
        ],
      },
    });
  });

  it('never changes its spec', async () => {
    const name = `${server.own}-fixed`;
    const object = { apiVersion, kind: 'NodeClaim', metadata: { name }, spec: { nodeClassRef, requirements: [] } };
    await server.send('POST', '/apis/karpenter.sh/v1/nodeclaims', object);
    const { code, body } = await server.send(
      'PATCH',
      `/apis/karpenter.sh/v1/nodeclaims/${name}`,
      { spec: { expireAfter: '1h' } },
      { 'Content-Type': 'application/merge-patch+json' },
    );
    expect(code).toBe(422);
    expect(body).toMatchObject({
      message: `NodeClaim.karpenter.sh "${name}" is invalid: spec: Invalid value: spec is immutable`,
    });
  });

  it('r128: has conditions that are True, False or Unknown, and dated', async () => {
    const name = `${server.own}-conditions`;
    const object = { apiVersion, kind: 'NodeClaim', metadata: { name }, spec: { nodeClassRef, requirements: [] } };
    await server.send('POST', '/apis/karpenter.sh/v1/nodeclaims', object);
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const write = (condition: Record<string, unknown>) =>
      server.send(
        'PATCH',
        `/apis/karpenter.sh/v1/nodeclaims/${name}/status`,
        { status: { conditions: [condition] } },
        { 'Content-Type': 'application/merge-patch+json' },
      );
    const whole = { type: 'Drifted', status: 'Unknown', reason: 'Checking', message: '', lastTransitionTime };
    expect((await write(whole)).code).toBe(200);
    expect((await write({ ...whole, status: 'Maybe' })).body).toMatchObject({
      code: 422,
      message: `NodeClaim.karpenter.sh "${name}" is invalid: [status.conditions[0].status: Unsupported value: "Maybe": supported values: "True", "False", "Unknown", <nil>: Invalid value: null: ${unchecked}]`,
    });
    expect((await write({ ...whole, lastTransitionTime: undefined })).code).toBe(422);
  });
});
