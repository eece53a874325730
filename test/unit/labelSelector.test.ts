import { describe, expect, it } from '@jest/globals';

import type { LabelSelector } from '../../karpenter/api.js';
import { selects } from '../../karpenter/labelSelector.js';

const labels = { app: 'web', tier: 'front' };
type Operator = NonNullable<LabelSelector['matchExpressions']>[number]['operator'];

function expression(key: string, operator: Operator, ...values: string[]): LabelSelector {
  return { matchExpressions: [{ key, operator, ...(values.length === 0 ? {} : { values }) }] };
}

describe('a label selector', () => {
  it.each<[string, LabelSelector | undefined, boolean]>([
    ['that is absent matches nothing', undefined, false],
    ['that is empty matches everything', {}, true],
    ['with empty parts matches everything', { matchLabels: {}, matchExpressions: [] }, true],
    ['matches a label', { matchLabels: { app: 'web' } }, true],
    ['needs the very value', { matchLabels: { app: 'we' } }, false],
    ['needs all labels', { matchLabels: { app: 'web', tier: 'back' } }, false],
    ['needs labels that are missing', { matchLabels: { zone: '' } }, false],
    ['In: one of the values', expression('app', 'In', 'api', 'web'), true],
    ['In: none of the values', expression('app', 'In', 'api'), false],
    ['In: a label that is missing', expression('zone', 'In', 'a'), false],
    ['NotIn: one of the values', expression('app', 'NotIn', 'api', 'web'), false],
    ['NotIn: none of the values', expression('app', 'NotIn', 'api'), true],
    ['NotIn: a label that is missing', expression('zone', 'NotIn', 'a'), true],
    ['Exists: it does', expression('app', 'Exists'), true],
    ['Exists: it does not', expression('zone', 'Exists'), false],
    ['DoesNotExist: it does', expression('app', 'DoesNotExist'), false],
    ['DoesNotExist: it does not', expression('zone', 'DoesNotExist'), true],
    ['is not taken in by what every object has', expression('constructor', 'Exists'), false],
    ['needs labels and expressions', { matchLabels: { app: 'web' }, ...expression('tier', 'NotIn', 'front') }, false],
  ])('%s', (_, selector, expected) => {
    expect(selects(selector, labels)).toBe(expected);
  });

  it('matches an object without labels only when it asks for none', () => {
    expect(selects({}, undefined)).toBe(true);
    expect(selects(expression('app', 'DoesNotExist'), undefined)).toBe(true);
    expect(selects({ matchLabels: { app: 'web' } }, undefined)).toBe(false);
  });
});
