import { randomInt } from 'node:crypto';

interface Rule {
  readonly pattern: RegExp;
  readonly source: string;
  readonly message: string;
  readonly examples: readonly string[];
}

function rule(source: string, message: string, examples: readonly string[]): Rule {
  return { pattern: new RegExp(`^(?:${source})$`), source, message, examples };
}

const labelSource = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dnsLabel = rule(
  labelSource,
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  ['my-name', '123-abc'],
);
const dnsSubdomain = rule(
  `${labelSource}(\\.${labelSource})*`,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  ['example.com'],
);
const keyName = rule(
  '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]',
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  ['MyName', 'my.name', '123-abc'],
);
const labelValue = rule(
  '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?',
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  ['MyValue', 'my_value', '12345'],
);

function explain({ message, examples, source }: Rule): string {
  const list = examples.map((example, index) => `${index === 0 ? '' : ' or '}'${example}', `).join('');
  return `${message} (e.g. ${list}regex used for validation is '${source}')`;
}

function problems(value: string, allowed: Rule, maxLength: number, unit: 'characters' | 'bytes'): string[] {
  const found = value.length > maxLength ? [`must be no more than ${maxLength} ${unit}`] : [];
  return allowed.pattern.test(value) ? found : [...found, explain(allowed)];
}

/** What is wrong with an object's name, in the API server's words; nothing for a good one. */
export function dnsSubdomainProblems(name: string): readonly string[] {
  return problems(name, dnsSubdomain, 253, 'characters');
}

export function dnsLabelProblems(name: string): readonly string[] {
  return problems(name, dnsLabel, 63, 'characters');
}

export function labelValueProblems(value: string): readonly string[] {
  return problems(value, labelValue, 63, 'bytes');
}

/** For the keys of labels and annotations, and for finalizers: a name, perhaps behind `prefix/`. */
export function labelKeyProblems(key: string): readonly string[] {
  const parts = key.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2) {
    const hint = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    return [`a valid label key ${explain(keyName)} ${hint}`];
  }
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const ofPrefix = prefix === '' ? ['must be non-empty'] : prefix === undefined ? [] : dnsSubdomainProblems(prefix);
  const ofName = name === '' ? ['must be non-empty', explain(keyName)] : problems(name, keyName, 63, 'bytes');
  return [...ofPrefix.map((each) => `prefix part ${each}`), ...ofName.map((each) => `name part ${each}`)];
}

/** Kubernetes' alphabet for generated names: no vowels, and nothing that looks like something else. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const maxBaseLength = 63 - suffixLength;

export function generateName(base: string): string {
  const suffix = Array.from({ length: suffixLength }, () => alphabet.charAt(randomInt(alphabet.length)));
  return base.slice(0, maxBaseLength) + suffix.join('');
}
