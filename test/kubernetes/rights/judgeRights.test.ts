import { describe, expect, it } from '@jest/globals';

import type { AuditedRequest } from './auditedRequests.js';
import type { Right } from './grantedRights.js';
import { grantedRights } from './grantedRights.js';
import { judgeRights } from './judgeRights.js';

const subject = { kind: 'ServiceAccount', name: 'worker', namespace: 'driftless' } as const;
const subjects = [subject];

function manifests(rule: object, namespacedRule: object): readonly object[] {
  return [
    { kind: 'ServiceAccount', metadata: { name: 'worker', namespace: 'driftless' } },
    { kind: 'ClusterRole', metadata: { name: 'worker' }, rules: [rule] },
    {
      kind: 'ClusterRoleBinding',
      metadata: { name: 'worker' },
      roleRef: { kind: 'ClusterRole', name: 'worker' },
      subjects,
    },
    { kind: 'Role', metadata: { name: 'worker', namespace: 'kube-system' }, rules: [namespacedRule] },
    {
      kind: 'RoleBinding',
      metadata: { name: 'worker', namespace: 'kube-system' },
      roleRef: { kind: 'Role', name: 'worker' },
      subjects,
    },
  ];
}

const nodes = { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list'] };
const secret = { apiGroups: [''], resources: ['secrets'], resourceNames: ['template'], verbs: ['get'] };

function rightsWith(rule: object = nodes, namespacedRule: object = secret): readonly Right[] {
  return grantedRights(manifests(rule, namespacedRule), subject);
}

function request(verb: string, resource: string, parts: Partial<AuditedRequest> = {}): AuditedRequest {
  const rest = { apiGroup: '', namespace: undefined, name: undefined, code: 200, message: '' };
  return { verb, resource, ...rest, ...parts };
}

const readSecret = request('get', 'secrets', { namespace: 'kube-system', name: 'template' });
const requests = [
  request('get', 'nodes', { name: 'a' }),
  request('get', 'nodes', { name: 'b', code: 404 }),
  request('list', 'nodes'),
  readSecret,
];

describe('rights', () => {
  it('are taken from what is bound to a subject, a verb and a name at a time', () => {
    const [cluster, inKubeSystem] = ['ClusterRole worker', 'Role worker in kube-system'];
    const onNodes = { role: cluster, apiGroup: '', resource: 'nodes', namespace: undefined, name: undefined };
    expect(rightsWith()).toEqual([
      { ...onNodes, verb: 'get' },
      { ...onNodes, verb: 'list' },
      {
        role: inKubeSystem,
        verb: 'get',
        apiGroup: '',
        resource: 'secrets',
        namespace: 'kube-system',
        name: 'template',
      },
    ]);
    expect(grantedRights(manifests(nodes, secret), { ...subject, name: 'watcher' })).toEqual([]);
  });

  it('have nothing wrong with them when each was needed as it is', () => {
    const nothing = { refused: [], allowedElsewhere: [], unneeded: [], tooWide: [] };
    expect(judgeRights(rightsWith(), requests)).toEqual(nothing);
  });

  it('are too few when a request was refused', () => {
    const refused = request('delete', 'pods', { namespace: 'default', name: 'x', code: 403, message: 'no' });
    expect(judgeRights(rightsWith(), [...requests, refused, refused]).refused).toEqual([
      'delete pods x in default: no',
    ]);
  });

  it.each([
    ['another verb', { ...nodes, verbs: ['get', 'list', 'watch'] }, secret, ['ClusterRole worker: watch nodes']],
    ['all verbs', { ...nodes, verbs: ['get', 'list', '*'] }, secret, ['ClusterRole worker: * nodes']],
    [
      'another resource',
      { ...nodes, resources: ['nodes', 'pods'] },
      secret,
      ['ClusterRole worker: get pods', 'ClusterRole worker: list pods'],
    ],
    [
      'another group',
      { ...nodes, apiGroups: ['', 'x'], verbs: ['get', 'list'] },
      secret,
      ['ClusterRole worker: get nodes.x', 'ClusterRole worker: list nodes.x'],
    ],
    [
      'another name',
      nodes,
      { ...secret, resourceNames: ['template', 'other'] },
      ['Role worker in kube-system: get secrets other in kube-system'],
    ],
    [
      'what another right covers, each of the two',
      { ...nodes, resources: ['nodes', 'secrets'], verbs: ['get'] },
      secret,
      ['ClusterRole worker: get secrets', 'Role worker in kube-system: get secrets template in kube-system'],
    ],
  ])('are too many with %s', (_, rule, namespacedRule, unneeded) => {
    expect(judgeRights(rightsWith(rule, namespacedRule), requests).unneeded).toEqual(unneeded);
  });

  it('are too wide without the one name, or in more than the one namespace, that was asked for', () => {
    const anySecret = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] };
    const onlyNeeded = 'only needed: get secrets template in kube-system';
    expect(judgeRights(rightsWith(nodes, anySecret), requests).tooWide).toEqual([
      `Role worker in kube-system: get secrets in kube-system; ${onlyNeeded}`,
    ]);
    expect(judgeRights(rightsWith(secret, { ...secret, verbs: [] }), [readSecret]).tooWide).toEqual([
      `ClusterRole worker: get secrets template; ${onlyNeeded}`,
    ]);
  });

  it('are not what allowed a request that none of them covers', () => {
    const version = request('get', '/version');
    expect(judgeRights(rightsWith(), [...requests, version]).allowedElsewhere).toEqual(['get /version']);
  });
});
