import { describe, expect, it } from '@jest/globals';

import type { Admission, AdmissionInput } from '../../karpenter/admission.js';
import { admit, maxInFlight } from '../../karpenter/admission.js';
import type { Taint } from '../../karpenter/api.js';
import { findCandidates } from '../../karpenter/candidate.js';
import type { Machine, Pool } from '../../karpenter/pool.js';
import { takeCensus } from '../../karpenter/pool.js';
import { parseQuantity } from '../../karpenter/quantity.js';
import { podDisruptionBudgetOf, podOf } from './podFixture.js';
import type { MachineShape } from './poolFixture.js';
import { admissionInputOf, isTrueSince, machineOf, poolOf } from './poolFixture.js';
import { Random } from './random.js';

const atMs = Date.parse('2026-01-05T13:00:00Z');
const rounds = 120;
const resources = ['cpu', 'memory', 'nodes'] as const;
const sizes = [
  { cpu: '2', memory: '8Gi' },
  { cpu: '4', memory: '8Gi' },
  { cpu: '16', memory: '64Gi' },
] as const;

interface RandomStory {
  readonly pool: Pool;
  readonly input: AdmissionInput;
  readonly allowed: ReadonlyMap<string, number>;
  readonly limits: Readonly<Record<string, string>>;
}

function randomMachine(random: Random, index: number): Machine {
  const isOneIn = (count: number): boolean => random.below(count) === 0;
  const pods = [
    ...(isOneIn(2) ? [podOf('web')] : []),
    ...(isOneIn(8) ? [podOf('kept', { doNotDisrupt: isOneIn(2) ? 'true' : '4h' })] : []),
    ...(isOneIn(8) ? [podOf('guarded', { labels: { app: 'guarded' } })] : []),
    ...(isOneIn(6) ? [podOf('worker', { labels: { 'app.kubernetes.io/name': 'driftless' } })] : []),
  ];
  const shape: MachineShape = {
    pods,
    capacity: sizes[random.below(sizes.length)] ?? sizes[0],
    conditions: isOneIn(3) ? [isTrueSince(isOneIn(2) ? 'Empty' : 'Unhealthy', '2026-01-05T12:30:00Z')] : [],
    ...(isOneIn(4) ? {} : { driftedSince: `2026-01-05T12:00:${10 + random.below(50)}Z` }),
    ...(isOneIn(20) ? { isTainted: true } : {}),
    ...(isOneIn(20) ? { isTainted: true, workflow: 'replace/cluster/left/uid-left' } : {}),
    ...(isOneIn(12) ? { isReady: false } : {}),
    ...(isOneIn(12) ? { isDeleted: true } : {}),
    ...(isOneIn(12) ? { isInitialized: false } : {}),
    ...(isOneIn(12) ? { isInstanceTerminating: true } : {}),
    ...(isOneIn(12) ? { doNotDisrupt: 'true' } : {}),
    ...(isOneIn(12) ? { replaces: `uid-n-${random.below(20)}` } : {}),
    ...(isOneIn(12) ? { spec: { terminationGracePeriod: '5m' } } : {}),
    ...(isOneIn(12) ? { annotations: { 'driftless.dev/replace': 'true' } } : {}),
  };
  return machineOf(`n-${index}`, shape);
}

function randomStory(random: Random): RandomStory {
  const machines = Array.from({ length: 1 + random.below(40) }, (_, index) => randomMachine(random, index));
  const some = (oneIn: number): string[] =>
    machines.map(({ nodeClaim }) => nodeClaim.metadata.name).filter(() => random.below(oneIn) === 0);
  const uidsOf = (names: readonly string[]): Set<string> => new Set(names.map((name) => `uid-${name}`));
  const allowed = new Map(['all', 'Drifted', 'Empty', 'Unhealthy'].map((reason) => [reason, random.below(20)]));
  const budgets = [...allowed].map(([reason, nodes]) => ({
    nodes: String(nodes),
    ...(reason === 'all' ? {} : { reasons: [reason] }),
  }));
  const limits: Record<string, string> = {};
  if (random.below(2) === 0) limits['cpu'] = String(random.below(600));
  if (random.below(2) === 0) limits['memory'] = `${random.below(2_000)}Gi`;
  if (random.below(2) === 0) limits['nodes'] = String(random.below(80));
  return {
    pool: {
      ...poolOf(machines, { budgets, limits, ...(random.below(6) === 0 ? { replicas: machines.length } : {}) }),
      pendingPods: random.below(3) === 0 ? [podOf('coming', { phase: 'Pending', nominatedTo: 'aks-n-0' })] : [],
      podDisruptionBudgets: [podDisruptionBudgetOf('guard', { selector: { matchLabels: { app: 'guarded' } } })],
    },
    input: admissionInputOf(atMs, {
      inFlight: new Set(some(10)),
      first: uidsOf(some(8)),
      last: uidsOf(some(8)),
      held: uidsOf(some(8)),
      cluster: { room: random.below(30), movesControlPlane: random.below(4) === 0 },
    }),
    allowed,
    limits,
  };
}

function usedBy(machines: readonly Machine[], resource: (typeof resources)[number]): number {
  return machines
    .map(({ nodeClaim }) => (resource === 'nodes' ? 1 : parseQuantity(nodeClaim.status?.capacity?.[resource] ?? '0')))
    .reduce((sum, amount) => sum + amount, 0);
}

function namesOf(candidates: readonly { readonly nodeClaim: string }[]): string[] {
  return candidates.map(({ nodeClaim }) => nodeClaim);
}

function isDisruption({ key }: Taint): boolean {
  return key === 'karpenter.sh/disrupted';
}

function eachStory(check: (story: RandomStory, admission: Admission) => void): void {
  const random = new Random(20_260_106);
  let starts = 0;
  for (let round = 0; round < rounds; round += 1) {
    const story = randomStory(random);
    const admission = admit(story.pool, story.input);
    starts += admission.start.length;
    check(story, admission);
  }
  // Else these stories would say nothing.
  expect(starts).toBeGreaterThan(rounds / 2);
}

describe('in random pools', () => {
  it('everybody who asks starts, waits or is blocked: nobody twice, nobody not at all', () => {
    eachStory(({ pool, input }, { start, waiting, blocked }) => {
      const { candidates, blocked: notNow } = findCandidates(pool, input.rules, atMs);
      const asking = [
        ...candidates.filter(({ nodeClaim, uid }) => !input.inFlight.has(nodeClaim) && !input.held.has(uid)),
        ...notNow.filter(({ nodeClaim }) => !input.inFlight.has(nodeClaim)),
      ];
      expect([...namesOf(start), ...namesOf(waiting), ...namesOf(blocked)].sort()).toEqual(namesOf(asking).sort());
      expect(namesOf(start).filter((name) => input.inFlight.has(name))).toEqual([]);
    });
  });

  it('nobody starts beyond the budget of its reason, the cluster-wide cap, or the limit of one rollout', () => {
    eachStory(({ pool, input, allowed }, { start }) => {
      const machines = new Map(pool.machines.map((machine) => [machine.nodeClaim.metadata.name, machine]));
      for (const [index, { nodeClaim, reason }] of start.entries()) {
        const { disrupted, onlyNotReady } = takeCensus(
          pool,
          new Set([...input.inFlight, ...namesOf(start.slice(0, index + 1))]),
        );
        const counted = disrupted.length - (reason === 'Unhealthy' ? onlyNotReady.length : 0);
        expect(counted).toBeLessThanOrEqual(Math.min(allowed.get('all') ?? 0, allowed.get(reason) ?? Infinity));
        // To take up what an earlier replacement has left disrupts nobody more.
        const isLeftover = machines.get(nodeClaim)?.node?.spec?.taints?.some(isDisruption) === true;
        if (!isLeftover) expect(counted).toBeLessThanOrEqual(input.cluster.room);
      }
      expect(start.length + input.inFlight.size).toBeLessThanOrEqual(maxInFlight);
    });
  });

  it('the shares of those that start, of those in flight and what is there never pass a limit', () => {
    eachStory(({ pool, input, limits }, { start }) => {
      const { machines } = pool;
      const hasReplacement = ({ nodeClaim }: Machine): boolean =>
        machines.some(
          (other) =>
            other.nodeClaim.metadata.annotations?.['driftless.dev/replaces'] === nodeClaim.metadata.uid &&
            other.nodeClaim.metadata.deletionTimestamp === undefined,
        );
      const started = new Set(start.filter(({ isEmpty }) => !isEmpty).map(({ nodeClaim }) => nodeClaim));
      if (started.size === 0) return;
      const starting = machines.filter(({ nodeClaim }) => started.has(nodeClaim.metadata.name));
      const promised = machines.filter(
        (machine) => input.inFlight.has(machine.nodeClaim.metadata.name) && !hasReplacement(machine),
      );
      for (const resource of resources) {
        const limit = limits[resource];
        if (limit === undefined) continue;
        const used = usedBy([...machines, ...promised, ...starting], resource);
        expect({ resource, used, isWithin: used <= parseQuantity(limit) }).toMatchObject({ isWithin: true });
      }
    });
  });

  it('at most one node with our own pods starts, and none while another one moves', () => {
    eachStory(({ pool, input }, { start }) => {
      const carriers = start.filter(({ carriesControlPlane }) => carriesControlPlane);
      const isMoving = pool.machines.some(
        ({ nodeClaim, node, pods }) =>
          pods.some(({ metadata }) => metadata.name === 'worker') &&
          (input.inFlight.has(nodeClaim.metadata.name) || node?.spec?.taints?.some(isDisruption) === true),
      );
      expect(carriers.length).toBeLessThanOrEqual(isMoving || input.cluster.movesControlPlane ? 0 : 1);
    });
  });

  it('a second look, with those that started in flight, starts nobody: two looks at one instant are one', () => {
    eachStory(({ pool, input }, { start }) => {
      const inFlight = new Set([...input.inFlight, ...namesOf(start)]);
      expect(admit(pool, { ...input, inFlight }).start).toEqual([]);
    });
  });
});
