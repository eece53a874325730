import { describe, expect, it } from '@jest/globals';

import type { NodeClaim, Pod } from '../../karpenter/api.js';
import {
  ownerAnnotation,
  replacementTaint,
  replacesAnnotation,
  terminationFinalizer,
  workflowAnnotation,
} from '../../karpenter/labels.js';
import type { Orphan, SweepView, TaggedMachine } from '../../karpenter/orphan.js';
import { findOrphans, keptWhy, markedWorkflows } from '../../karpenter/orphan.js';
import type { Machine } from '../../karpenter/pool.js';
import type { MachineShape } from './poolFixture.js';
import { isTrueSince, machineOf } from './poolFixture.js';

const owner = 'namespace-id';
const sweptAtMs = Date.parse('2026-01-05T13:00:00Z');
const olderThanMs = sweptAtMs - 600_000;
const old = '2026-01-05T12:00:00Z';
const young = '2026-01-05T12:59:00Z';
const mark = { [ownerAnnotation]: owner, [workflowAnnotation]: 'w1' };

/** A node in the hands of workflow w1, by its taint and marks. */
function taintedMachine(name: string, shape: MachineShape = {}, annotations: Record<string, string> = mark): Machine {
  const machine = machineOf(name, { isTainted: true, ...shape });
  if (machine.node !== undefined) machine.node.metadata.annotations = annotations;
  return machine;
}

/** What workflow w1 made to take the place of `old`. */
function replacement(name: string, shape: MachineShape = {}): Machine {
  return machineOf(name, { createdAt: old, annotations: { ...mark, [replacesAnnotation]: 'uid-old' }, ...shape });
}

function reserved(machine: Machine): Machine {
  machine.node?.spec?.taints?.push({ key: replacementTaint, effect: 'NoSchedule' });
  return machine;
}

/** Its NodeClaim has been deleted, and waits for the finalizer that is ours to take off. */
function deleted(machine: Machine, at = old): Machine {
  Object.assign(machine.nodeClaim.metadata, { deletionTimestamp: at, finalizers: [terminationFinalizer] });
  return machine;
}

function viewOf(machines: readonly Machine[], parts: { readonly machines?: readonly TaggedMachine[] } = {}): SweepView {
  return {
    owner,
    nodeClaims: machines.map(({ nodeClaim }) => nodeClaim),
    nodes: machines.flatMap(({ node }) => (node === undefined ? [] : [node])),
    machines: parts.machines ?? [],
  };
}

function nameOf(orphan: Orphan): string {
  switch (orphan.kind) {
    case 'taint':
    case 'reservation':
      return orphan.node.metadata.name;
    case 'condition':
    case 'nodeClaim':
    case 'deletion':
      return orphan.nodeClaim.metadata.name;
    case 'virtualMachine':
      return orphan.machine.name;
  }
}

function found(view: SweepView, running: readonly string[] = []): string[] {
  return findOrphans(view, new Set(running), olderThanMs).map((orphan) => `${orphan.kind} ${nameOf(orphan)}`);
}

function podOn(node: string, ownerKind: string): Pod {
  return {
    metadata: {
      name: 'p',
      namespace: 'shop',
      uid: 'uid-p',
      ownerReferences: [{ kind: ownerKind, name: 'o', uid: 'u' }],
    },
    spec: { nodeName: node, containers: [] },
    status: { phase: 'Running' },
  };
}

describe('orphans', () => {
  it.each<[string, Machine, readonly string[], readonly string[]]>([
    ['the taint of a workflow that is not running', taintedMachine('a'), [], ['taint aks-a']],
    ['r174: also on a node that is not Ready', taintedMachine('a', { isReady: false }), [], ['taint aks-a']],
    ['not that of one that is', taintedMachine('a'), ['w1'], []],
    ["not somebody else's taint", taintedMachine('a', {}, {}), [], []],
    [
      "not another installation's",
      taintedMachine('a', {}, { [ownerAnnotation]: 'other', [workflowAnnotation]: 'w1' }),
      [],
      [],
    ],
    ['not on a node that is being deleted', taintedMachine('a', { isDeleted: true }), [], []],
  ])('are %s', (_, machine, running, expected) => {
    expect(found(viewOf([machine]), running)).toEqual(expected);
  });

  it.each<[string, readonly Machine[], readonly string[], readonly string[]]>([
    ['a replacement whose old node is still there', [machineOf('old'), replacement('r')], [], ['nodeClaim r']],
    ['not while its workflow runs', [machineOf('old'), replacement('r')], ['w1'], []],
    ['not when it is young', [machineOf('old'), replacement('r', { createdAt: young })], [], []],
    ['not when it is being deleted', [machineOf('old'), replacement('r', { isDeleted: true })], [], []],
    ['one that never became a node', [replacement('r', { hasNode: false })], [], ['nodeClaim r']],
    [
      'not one at work, whose old node is gone',
      [replacement('r', { conditions: [isTrueSince('Initialized')] })],
      [],
      [],
    ],
    [
      'but the reservation of one at work',
      [reserved(replacement('r', { conditions: [isTrueSince('Initialized')] }))],
      [],
      ['reservation aks-r'],
    ],
    [
      'not the reservation of one that is to be deleted anyhow',
      [machineOf('old'), reserved(replacement('r', { conditions: [isTrueSince('Initialized')] }))],
      [],
      ['nodeClaim r'],
    ],
  ])('are %s', (_, machines, running, expected) => {
    expect(found(viewOf(machines), running)).toEqual(expected);
  });

  it('name the node whose workload they would take away; the pods of a DaemonSet are none', () => {
    const [orphan] = findOrphans(viewOf([machineOf('old'), replacement('r')]), new Set(), olderThanMs);
    expect(orphan).toMatchObject({ kind: 'nodeClaim', nodeName: 'aks-r' });
    expect(keptWhy([podOn('aks-r', 'ReplicaSet')])).toBe('pod shop/p runs on it');
    expect(keptWhy([podOn('aks-r', 'DaemonSet')])).toBeUndefined();
  });

  it.each<[string, Machine, readonly string[], readonly string[]]>([
    ['of a replacement whose workflow is not running', deleted(replacement('r')), [], ['deletion r']],
    ['not when it is running', deleted(replacement('r')), ['w1'], []],
    ['not when it has only begun', deleted(replacement('r'), young), [], []],
    ['of a node that was being replaced', deleted(taintedMachine('a')), [], ['deletion a']],
    [
      'also when its Node is gone already',
      deleted(
        machineOf('a', {
          hasNode: false,
          conditions: [{ ...isTrueSince('DisruptionReason'), message: 'ImageDrift; replaced by w1' }],
        }),
      ),
      [],
      ['deletion a'],
    ],
    [
      'not when another workflow is replacing what was a replacement itself',
      deleted(
        replacement('r', {
          conditions: [{ ...isTrueSince('DisruptionReason'), message: 'ImageDrift; replaced by w2' }],
        }),
      ),
      ['w2'],
      [],
    ],
    ['not one without our mark', deleted(machineOf('a')), [], []],
    ['not one that another finalizer keeps', replacement('r', { isDeleted: true }), [], []],
  ])('are deletions: %s', (_, machine, running, expected) => {
    expect(found(viewOf([machine]), running)).toEqual(expected);
  });

  it('name the node whose deletion would take workload away', () => {
    const [orphan] = findOrphans(viewOf([deleted(replacement('r'))]), new Set(), olderThanMs);
    expect(orphan).toMatchObject({ kind: 'deletion', nodeName: 'aks-r' });
  });

  it('are VMs with our tag whose NodeClaim does not exist', () => {
    const machine = (name: string, parts: Partial<TaggedMachine> = {}): TaggedMachine => ({
      name,
      owner,
      nodeClaim: name,
      createdAt: old,
      ...parts,
    });
    const machines = [
      machine('gone'),
      machine('there'),
      machine('young', { createdAt: young }),
      machine('ageless', { createdAt: undefined }),
      machine('others', { owner: 'other' }),
      machine('untagged', { owner: undefined, nodeClaim: undefined }),
    ];
    expect(found(viewOf([machineOf('there')], { machines }))).toEqual(['virtualMachine gone']);
  });

  it('are conditions of ours without a taint', () => {
    const withReason = (name: string, message: string, shape: MachineShape = {}): Machine =>
      machineOf(name, { ...shape, conditions: [{ ...isTrueSince('DisruptionReason'), message }] });
    const machines = [
      withReason('a', 'replaced by w1'),
      withReason('running', 'replaced by w2'),
      withReason('karpenter', 'Drifted'),
      withReason('tainted', 'replaced by w1', { isTainted: true }),
    ];
    expect(found(viewOf(machines), ['w2'])).toEqual(['condition a']);
  });

  it('are looked for among the workflows that the marks name', () => {
    const other: NodeClaim = machineOf('c', {
      conditions: [{ ...isTrueSince('DisruptionReason'), message: 'replaced by w3' }],
    }).nodeClaim;
    const view = viewOf([taintedMachine('a'), replacement('r')]);
    expect([...markedWorkflows({ ...view, nodeClaims: [...view.nodeClaims, other] })].sort()).toEqual(['w1', 'w3']);
  });
});
