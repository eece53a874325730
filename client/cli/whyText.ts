import type { Condition } from '../../karpenter/api.js';
import type { Disruption } from '../../karpenter/disruptionReason.js';
import { permitHolderText, waitsForText } from '../../karpenter/waitsFor.js';
import type { Counterpart, ExpectedStart, Why } from '../../karpenter/why.js';
import { factLines, spanText } from './terminalText.js';
import { wrapText } from './textTable.js';
import type { EventReport, StrangerReport, WhyReport } from './whyReport.js';

type Fact = readonly [label: string, text: string];

/** What is happening to a node, in lines of at most 80 columns, but for the id of a workflow. */
export function whyLines(report: WhyReport): readonly string[] {
  const { nodeClaim, node, nodePool, madeBy, answer, events } = report;
  const facts = answerFacts(answer, report.at);
  const workflowId = answer.kind === 'replacing' ? answer.workflowId : madeBy;
  return [
    ...headLines(nodeClaim, node, nodePool),
    ...wrapText(headline(answer)),
    ...(facts.length === 0 ? [] : factLines(facts)),
    // Whole, for whoever copies it.
    ...(workflowId === null ? [] : [`${answer.kind === 'replacing' ? 'workflow' : 'made by'}  ${workflowId}`]),
    ...eventLines(events),
  ];
}

/** The same of a node that belongs to no NodePool. */
export function strangerLines({ nodeClaim, node, answer }: StrangerReport): readonly string[] {
  return [...headLines(nodeClaim, node, null), ...wrapText(answer.why)];
}

function headLines(nodeClaim: string | null, node: string | null, nodePool: string | null): readonly string[] {
  const names: readonly (readonly [string, string | null])[] = [
    ['NodeClaim', nodeClaim],
    ['Node', node],
    ['NodePool', nodePool],
  ];
  return wrapText(names.flatMap(([kind, name]) => (name === null ? [] : [`${kind} ${name}`])).join(', '));
}

function headline(answer: Why): string {
  switch (answer.kind) {
    case 'closed':
      return 'Its NodePool is left alone.';
    case 'notAsked':
      return 'Nothing asks for its replacement.';
    case 'next':
      return answer.isEmpty
        ? 'It goes with the next look of the rollout, without a replacement: it is empty.'
        : 'Its replacement starts with the next look of the rollout: a permit is free.';
    case 'waiting':
      return `It waits for a permit: place ${answer.place} of ${answer.line}.`;
    case 'blocked':
      return 'It cannot be replaced now.';
    case 'replacing':
      return `It is being replaced: phase ${answer.phase}.`;
    case 'replacement':
      return `It is the replacement of ${answer.of.nodeClaim}, which is in phase ${answer.phase}.`;
    case 'disruptedByOthers':
      return 'Somebody else disrupts it: it counts against the budget and is left to them.';
    case 'deleting':
      return 'It is being deleted.';
  }
}

function answerFacts(answer: Why, at: string): readonly Fact[] {
  switch (answer.kind) {
    case 'closed':
      return [['why', answer.why], ...(answer.disruption === null ? [] : [askedFor(answer.disruption)])];
    case 'notAsked':
      return [
        ...conditionFacts(answer.conditions),
        ...(answer.due === null ? [] : [['due', `${answer.due}, for its expireAfter`] as const]),
        ...(answer.expires === null ? [] : [['expires', `${answer.expires}: Karpenter ends it then`] as const]),
      ];
    case 'next':
      return [askedFor(answer.disruption)];
    case 'waiting':
      return [
        askedFor(answer.disruption),
        ['for', waitsForText(answer.waitsFor)],
        ['disrupted', String(answer.disrupted)],
        ...namesFact('held by', answer.holders.map(permitHolderText)),
        ...namesFact('ahead', answer.ahead),
        ...(answer.nextChange === null ? [] : [['change', `the budgets change at ${answer.nextChange}`] as const]),
        ['expected', expectedText(answer.expected, at)],
      ];
    case 'blocked':
      return [
        askedFor(answer.disruption),
        ['why', answer.why],
        ['remedy', answer.remedy],
        ...(answer.until === null ? [] : [['until', answer.until] as const]),
      ];
    case 'replacing':
      return [
        ...(answer.reason === null ? [] : [['asked for', answer.reason] as const]),
        ...(answer.since === null ? [] : [['since', answer.since] as const]),
        ...(answer.replacement === null ? [] : replacementFacts(answer.replacement)),
      ];
    case 'replacement':
      return conditionFacts(answer.conditions);
    case 'disruptedByOthers':
      return [['why', answer.why]];
    case 'deleting':
      return [
        ...(answer.since === null ? [] : [['since', answer.since] as const]),
        ...namesFact('finalizers', answer.finalizers),
      ];
  }
}

function askedFor({ reason, detail, since }: Disruption): Fact {
  return ['asked for', `${reason} (${detail})${since === '' ? '' : ` since ${since}`}`];
}

function expectedText(expected: ExpectedStart | null, at: string): string {
  if (expected === null) return 'nobody knows: see driftless plan';
  const inText = spanText(Date.parse(expected.at) - Date.parse(at));
  return `to start at ${expected.at}, in ${inText}, wave ${expected.wave} of driftless plan`;
}

function namesFact(label: string, names: readonly string[]): readonly Fact[] {
  return names.length === 0 ? [] : [[label, names.join(', ')]];
}

function replacementFacts({ nodeClaim, node, conditions }: Counterpart): readonly Fact[] {
  return [['replaced by', node === null ? nodeClaim : `${nodeClaim}, Node ${node}`], ...conditionFacts(conditions)];
}

function conditionFacts(conditions: readonly Condition[]): readonly Fact[] {
  return conditions.map(({ type, status, reason, message, lastTransitionTime }, index) => {
    const since = lastTransitionTime === undefined ? '' : ` since ${lastTransitionTime}`;
    // Karpenter repeats the type as the reason where it has no more to say.
    const more = [reason === type ? '' : reason, message].filter(Boolean).join(': ');
    return [index === 0 ? 'conditions' : '', `${type} ${status}${since}${more === '' ? '' : `: ${more}`}`];
  });
}

function eventLines(events: readonly EventReport[]): readonly string[] {
  if (events.length === 0) return [];
  return [
    '',
    ...events.flatMap(({ nodeClaim, at, type, reason, message }) =>
      factLines([['event', `${at} on ${nodeClaim}: ${type} ${reason}: ${message}`]]),
    ),
  ];
}
