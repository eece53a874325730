import type { DurationEstimate, PlanDurations } from '../../karpenter/planDurations.js';
import type { NodeUnderWay, Plan, PlannedNode, Wave } from '../../karpenter/plan.js';
import { permitHolderText, waitsForText } from '../../karpenter/waitsFor.js';
import { factLines, instantText, spanText, cutTable } from './terminalText.js';

/** A plan for people, in lines of at most 80 columns. */
export function planLines(nodePool: string, plan: Plan): readonly string[] {
  const { admission, atMs } = plan;
  return [
    `NodePool ${nodePool} at ${instantText(atMs)}: ${admission.nodes} nodes, ${admission.disrupted.length} disrupted`,
    ...factLines(facts(plan)),
    ...underWayLines(plan),
    ...waveLines(plan),
    ...blockedLines(plan),
    ...unplannedLines(plan),
  ];
}

function facts(plan: Plan): readonly (readonly [string, string])[] {
  const { admission, waves, blocked, underWay, surge, durations } = plan;
  const nodes = waves.flatMap((wave) => wave.nodes);
  const empty = nodes.filter(({ isEmpty }) => isEmpty).length;
  const gone = empty === 0 ? '' : `, ${empty} of them empty: they go without a replacement`;
  const counts = [`${nodes.length} to replace in ${waves.length} ${waves.length === 1 ? 'wave' : 'waves'}${gone}`];
  if (underWay.length > 0) counts.push(`${underWay.length} under way`);
  counts.push(`${blocked.length} blocked`);
  const unknown = surge.unknown === 0 ? '' : `, and ${surge.unknown} VMs whose size nothing tells`;
  const allowed = admission.allowances.map((allowance) => `${allowance.reason} ${allowance.allowed ?? 'unbounded'}`);
  const change = admission.nextChangeMs === null ? '' : `, which changes at ${instantText(admission.nextChangeMs)}`;
  return [
    ...(admission.closed === undefined ? [] : [['closed', admission.closed] as const]),
    ['plan', counts.join(', ')],
    ...(nodes.length === 0 ? [] : [['asked for', reasonsText(nodes)] as const]),
    ['budget', `${allowed.join(', ')}${change}`],
    ['end', endText(plan)],
    ['durations', durationsText(durations)],
    [
      'surge',
      surge.atMs === null
        ? `none${unknown}`
        : `${surge.vcpus} vCPU at the peak, at ${instantText(surge.atMs)}${unknown}`,
    ],
  ];
}

function reasonsText(nodes: readonly PlannedNode[]): string {
  const counts = new Map<string, number>();
  for (const { reason, reasonDetail } of nodes) {
    const text = `${reason} (${reasonDetail})`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([text, count]) => `${count} ${text}`).join(', ');
}

function endText({ atMs, plannedEndsMs, endsMs, blocked, unplanned }: Plan): string {
  if (endsMs !== null) return `${instantText(endsMs)}, in ${spanText(endsMs - atMs)}`;
  if (blocked.length === 0 && unplanned === null) return 'nothing to do';
  const left = unplanned === null ? 'what is blocked' : 'what waits without an end in sight';
  return plannedEndsMs === null
    ? `cannot be known: see ${left}`
    : `cannot be known: see ${left}; the rest ends at ${instantText(plannedEndsMs)}, in ${spanText(plannedEndsMs - atMs)}`;
}

function durationsText(durations: PlanDurations): string {
  const text = ({ durationMs, seen }: DurationEstimate): string =>
    `${spanText(durationMs)} (${seen === 0 ? 'assumed' : `median of ${seen}`})`;
  return `${text(durations.initialize)} to Initialized, ${text(durations.drain)} to drain, ${text(durations.delete)} to delete`;
}

function underWayLines({ underWay, atMs }: Plan): readonly string[] {
  if (underWay.length === 0) return [];
  const endOf = ({ terminatingMs }: NodeUnderWay): string =>
    terminatingMs <= atMs ? 'free' : `in ${spanText(terminatingMs - atMs)}`;
  const rows = underWay.map((row) => [row.nodeClaim, row.phase, row.replacement ?? '-', endOf(row)]);
  const columns = [
    { head: 'UNDER WAY', isName: true },
    { head: 'PHASE' },
    { head: 'REPLACEMENT', isName: true },
    { head: 'PERMIT FREE' },
  ] as const;
  return ['', ...cutTable(columns, rows)];
}

function waveLines({ waves }: Plan): readonly string[] {
  const columns = [
    { head: '#' },
    { head: 'NODECLAIM', isName: true },
    { head: 'REASON' },
    { head: 'SKU' },
    { head: 'ZONE' },
    { head: 'AFTER' },
  ] as const;
  const nodes = waves.flatMap((wave) => wave.nodes);
  const [head = '', ...rows] = cutTable(columns, nodes.map(nodeCells));
  return waves.flatMap((wave) => ['', ...waveHead(wave), head, ...rows.splice(0, wave.nodes.length)]);
}

function waveHead({ number, startsMs, permitsFreeMs, endsMs, nodes }: Wave): readonly string[] {
  const when = `${instantText(startsMs)}, permits free after ${spanText(permitsFreeMs - startsMs)}, gone after ${spanText(endsMs - startsMs)}`;
  return factLines([[`wave ${number}`, `${nodes.length} at ${when}`]]);
}

function nodeCells({ order, nodeClaim, reason, before, after, isEmpty }: PlannedNode): readonly string[] {
  const becomes = after === null ? '?' : 'same';
  return [
    String(order),
    nodeClaim,
    reason,
    before?.instanceType ?? '?',
    before?.zone ?? '?',
    isEmpty ? 'none' : becomes,
  ];
}

function blockedLines({ blocked }: Plan): readonly string[] {
  return blocked.flatMap(({ nodeClaim, reason, reasonDetail, why, remedy, untilMs }) => [
    '',
    ...factLines([
      ['blocked', `${nodeClaim}, ${reason} (${reasonDetail})`],
      ['why', why],
      ['remedy', remedy],
      ...(untilMs === null ? [] : [['until', instantText(untilMs)] as const]),
    ]),
  ]);
}

function unplannedLines({ unplanned }: Plan): readonly string[] {
  // Of a closed pool the facts say why.
  if (unplanned?.waitsFor == null) return [];
  const { candidates, waitsFor, holders } = unplanned;
  return [
    '',
    ...factLines([
      ['waits', `${candidates.length} without an end in sight`],
      ['for', waitsForText(waitsFor)],
      ...(holders.length === 0 ? [] : [['held by', holders.map(permitHolderText).join(', ')] as const]),
      ['who', candidates.map(({ nodeClaim }) => nodeClaim).join(', ')],
    ]),
  ];
}
