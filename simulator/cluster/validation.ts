import { isDeepStrictEqual } from 'node:util';

import { customErrors } from './customContent.js';
import { dnsLabelProblems, dnsSubdomainProblems, labelKeyProblems, labelValueProblems } from './names.js';
import type { Draft, KubernetesObject } from './objects.js';
import { isFields, listAt, textAt } from './objects.js';
import type { ResourceType } from './resources.js';
import { eventsType, namespacesType, podsType } from './resources.js';
import type { FieldError } from './statusErrors.js';
import { forbiddenValue, invalidValue, requiredValue } from './statusErrors.js';

type Metadata = Pick<KubernetesObject['metadata'], 'labels' | 'annotations' | 'finalizers'>;

function validateMaps(metadata: Metadata): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    for (const problem of labelKeyProblems(key)) errors.push(invalidValue('metadata.labels', key, problem));
    for (const problem of labelValueProblems(value)) errors.push(invalidValue('metadata.labels', value, problem));
  }
  for (const key of Object.keys(metadata.annotations ?? {})) {
    const problems = labelKeyProblems(key.toLowerCase());
    for (const problem of problems) errors.push(invalidValue('metadata.annotations', key, problem));
  }
  for (const finalizer of metadata.finalizers ?? []) {
    const problems = labelKeyProblems(finalizer);
    for (const problem of problems) errors.push(invalidValue('metadata.finalizers', finalizer, problem));
  }
  return errors;
}

function validateName(type: ResourceType, name: string): readonly FieldError[] {
  if (name === '') return [requiredValue('metadata.name', 'name or generateName is required')];
  const problems = type === namespacesType ? dnsLabelProblems(name) : dnsSubdomainProblems(name);
  return problems.map((problem) => invalidValue('metadata.name', name, problem));
}

function validateInvolvedObject(event: Draft, namespace: string): readonly FieldError[] {
  const involved = textAt(event, 'involvedObject', 'namespace');
  const allowed =
    textAt(event, 'eventTime') === ''
      ? [involved === '' ? 'default' : involved]
      : involved === ''
        ? ['default', 'kube-system']
        : [namespace];
  if (allowed.includes(namespace)) return [];
  return [invalidValue('involvedObject.namespace', involved, 'does not match event.namespace')];
}

/** What a real API server would refuse in a new object, as far as this one checks it. */
export function validateNew(type: ResourceType, draft: Draft, namespace: string | undefined): readonly FieldError[] {
  const errors = [...validateName(type, draft.metadata.name ?? ''), ...validateMaps(draft.metadata)];
  if (type === podsType && listAt(draft, 'spec', 'containers').length === 0) {
    errors.push(requiredValue('spec.containers'));
  }
  if (type === eventsType) errors.push(...validateInvolvedObject(draft, namespace ?? ''));
  if (type.custom) errors.push(...customErrors(type, draft, undefined));
  return errors;
}

function goStrings(texts: readonly string[]): string {
  return `[]string{${texts.map((text) => JSON.stringify(text)).join(', ')}}`;
}

function validateFinalizers(next: KubernetesObject, current: KubernetesObject): readonly FieldError[] {
  if (current.metadata.deletionTimestamp === undefined) return [];
  const known = current.metadata.finalizers ?? [];
  const added = (next.metadata.finalizers ?? []).filter((finalizer) => !known.includes(finalizer)).sort();
  if (added.length === 0) return [];
  const why = 'no new finalizers can be added if the object is being deleted, found new finalizers';
  return [forbiddenValue('metadata.finalizers', `${why} ${goStrings(added)}`)];
}

const updatablePodFields = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

function withoutImages(containers: unknown): readonly unknown[] {
  return listAt({ containers }, 'containers').map((container) =>
    isFields(container) ? { ...container, image: undefined } : container,
  );
}

/** The part of a pod's spec that never changes. */
function fixedPodSpec(pod: KubernetesObject): unknown {
  const spec = pod['spec'];
  if (!isFields(spec)) return spec;
  return {
    ...spec,
    containers: withoutImages(spec['containers']),
    initContainers: withoutImages(spec['initContainers']),
    activeDeadlineSeconds: undefined,
    tolerations: undefined,
    schedulingGates: undefined,
  };
}

function validatePodSpec(next: KubernetesObject, current: KubernetesObject): readonly FieldError[] {
  const tolerations = listAt(next, 'spec', 'tolerations');
  const keepsTolerations = listAt(current, 'spec', 'tolerations').every((old) =>
    tolerations.some((toleration) => isDeepStrictEqual(toleration, old)),
  );
  if (!keepsTolerations) {
    return [forbiddenValue('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
  }
  if (isDeepStrictEqual(fixedPodSpec(next), fixedPodSpec(current))) return [];
  return [forbiddenValue('spec', `pod updates may not change fields other than ${updatablePodFields}`)];
}

/** What a real API server would refuse in a change, as far as this one checks it. */
export function validateChange(
  type: ResourceType,
  next: KubernetesObject,
  current: KubernetesObject,
): readonly FieldError[] {
  const errors: FieldError[] = [...validateFinalizers(next, current), ...validateMaps(next.metadata)];
  if (next.metadata.uid !== current.metadata.uid) {
    errors.push(invalidValue('metadata.uid', next.metadata.uid, 'field is immutable'));
  }
  if (type === podsType) errors.push(...validatePodSpec(next, current));
  if (type.custom) errors.push(...customErrors(type, next, current));
  return errors;
}
