import { fieldAt, isFields, listAt, textAt } from './objects.js';
import { badRequest } from './statusErrors.js';

export type Labels = Readonly<Record<string, string>>;

type Requirement =
  | { readonly operator: 'In' | 'NotIn'; readonly key: string; readonly values: ReadonlySet<string> }
  | { readonly operator: 'Exists' | 'DoesNotExist'; readonly key: string }
  | { readonly operator: 'Gt' | 'Lt'; readonly key: string; readonly bound: number };

/** All of its requirements have to hold; none at all hold for everything. */
export type LabelSelector = readonly Requirement[];

const setTerm = /^([^\s!=<>(),]+)\s+(in|notin)\s*\(([^()]*)\)$/;
const comparedTerm = /^([^\s!=<>(),]+)\s*(==|=|!=|>|<)\s*([^\s!=<>(),]*)$/;
const existsTerm = /^(!?)\s*([^\s!=<>(),]+)$/;

function parseTerm(term: string): Requirement {
  const [, setKey, setOperator, list] = setTerm.exec(term) ?? [];
  if (setKey !== undefined && list !== undefined) {
    const values = new Set(list.split(',').map((value) => value.trim()));
    return { operator: setOperator === 'in' ? 'In' : 'NotIn', key: setKey, values };
  }
  const [, key, operator, value] = comparedTerm.exec(term) ?? [];
  if (key !== undefined && value !== undefined) {
    if (operator === '>' || operator === '<') {
      if (!/^-?\d+$/.test(value)) throw badRequest(`unable to parse requirement: values: Invalid value: "${value}"`);
      return { operator: operator === '>' ? 'Gt' : 'Lt', key, bound: Number(value) };
    }
    return { operator: operator === '!=' ? 'NotIn' : 'In', key, values: new Set([value]) };
  }
  const [, negation, existingKey] = existsTerm.exec(term) ?? [];
  if (existingKey === undefined) throw badRequest(`unable to parse requirement: found '${term}'`);
  return { operator: negation === '!' ? 'DoesNotExist' : 'Exists', key: existingKey };
}

/**
 * Reads the labelSelector of a request.
 * @throws ApiError 400
 */
export function parseLabelSelector(text: string): LabelSelector {
  if (text.trim() === '') return [];
  // Commas within parentheses separate values, not terms.
  return text.split(/,(?![^(]*\))/).map((term) => parseTerm(term.trim()));
}

function parseExpression(expression: unknown): Requirement | undefined {
  const key = textAt(expression, 'key');
  const operator = textAt(expression, 'operator');
  const values = new Set(listAt(expression, 'values').filter((value) => typeof value === 'string'));
  if (operator === 'In' || operator === 'NotIn') return { operator, key, values };
  if (operator === 'Exists' || operator === 'DoesNotExist') return { operator, key };
  return undefined;
}

/** Reads a meta/v1 LabelSelector; undefined for one that selects nothing, since it is missing or broken. */
export function readLabelSelector(selector: unknown): LabelSelector | undefined {
  if (!isFields(selector)) return undefined;
  const matchLabels = fieldAt(selector, 'matchLabels');
  const requirements: Requirement[] = [];
  for (const [key, value] of isFields(matchLabels) ? Object.entries(matchLabels) : []) {
    requirements.push({ operator: 'In', key, values: new Set([String(value)]) });
  }
  for (const expression of listAt(selector, 'matchExpressions')) {
    const requirement = parseExpression(expression);
    if (requirement === undefined) return undefined;
    requirements.push(requirement);
  }
  return requirements;
}

function holds(requirement: Requirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && requirement.values.has(value);
    case 'NotIn':
      return value === undefined || !requirement.values.has(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number.parseInt(value, 10) > requirement.bound;
    case 'Lt':
      return value !== undefined && Number.parseInt(value, 10) < requirement.bound;
  }
}

export function matchesLabels(selector: LabelSelector, labels: Labels | undefined): boolean {
  return selector.every((requirement) => holds(requirement, labels ?? {}));
}
