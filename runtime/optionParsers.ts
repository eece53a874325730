import { InvalidArgumentError } from 'commander';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Parsers for command line options and environment variables: commander puts the option's name before what they say. */

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `15m`, `90s`, `500ms`, `1h30m` to milliseconds. */
export function parseDurationMs(text: string): number {
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text))
    throw new InvalidArgumentError('It must be a duration such as 15m, 90s or 500ms.');
  let totalMs = 0;
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    totalMs += Number(number) * (unitMs[unit ?? ''] ?? 0);
  }
  return totalMs;
}

/** An instant in ISO 8601 with its zone, to epoch milliseconds. */
export function parseInstantMs(text: string): number {
  if (!z.iso.datetime({ offset: true }).safeParse(text).success) {
    throw new InvalidArgumentError('It must be an instant with its zone, such as 2026-01-05T09:00:00Z.');
  }
  return Date.parse(text);
}

export function parsePositiveInteger(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('It must be a whole number of 1 or more.');
  return Number(text);
}

export function parseWholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number of 0 or more.');
  return Number(text);
}

export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('It must be a port number, 0 to 65535.');
  return port;
}

export function parsePositiveNumber(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

/** An absolute https URL: a bearer token goes over nothing else. */
export function parseHttpsUrl(text: string): string {
  if (!URL.canParse(text) || new URL(text).protocol !== 'https:')
    throw new InvalidArgumentError('It must be an https URL.');
  return text;
}

/** `namespace/name` of a namespaced object. */
export function parseNamespacedName(text: string): { readonly namespace: string; readonly name: string } {
  const [namespace, name, ...rest] = text.split('/');
  if (namespace === undefined || namespace === '' || name === undefined || name === '' || rest.length > 0) {
    throw new InvalidArgumentError('It must be namespace/name.');
  }
  return { namespace, name };
}

/** `name.build` of a version of a Temporal worker deployment: only the build id may have dots of its own. */
export function parseDeploymentVersion(text: string): { readonly deploymentName: string; readonly buildId: string } {
  const [, deploymentName, buildId] = /^([^.:\s]+)\.(\S+)$/.exec(text) ?? [];
  if (deploymentName === undefined || buildId === undefined)
    throw new InvalidArgumentError('It must be <deployment name>.<build id>, such as driftless.1.4.0.');
  return { deploymentName, buildId };
}

/** The text of a file. */
export function readTextFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw new InvalidArgumentError(`The file ${path} cannot be read (${code}).`);
  }
}
