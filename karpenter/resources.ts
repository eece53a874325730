import type { Pod, ResourceList } from './api.js';
import { parseQuantity } from './quantity.js';

/** Amounts of resources as numbers: cores, bytes, pods. */
export type Resources = Readonly<Record<string, number>>;

/** @throws RangeError when a text is no Kubernetes quantity */
export function parseResources(list: ResourceList | undefined): Resources {
  return Object.fromEntries(Object.entries(list ?? {}).map(([name, text]) => [name, parseQuantity(text)]));
}

function merge(all: readonly Resources[], combine: (a: number, b: number) => number): Resources {
  const merged: Record<string, number> = {};
  for (const resources of all) {
    for (const [name, amount] of Object.entries(resources)) merged[name] = combine(merged[name] ?? 0, amount);
  }
  return merged;
}

export function sumResources(...all: readonly Resources[]): Resources {
  return merge(all, (a, b) => a + b);
}

/** Of each resource the most that any of them has. */
export function maxResources(...all: readonly Resources[]): Resources {
  return merge(all, Math.max);
}

/** Of each resource that all of them have the least. */
export function minResources(first: Resources, ...others: readonly Resources[]): Resources {
  const shared = Object.entries(first).filter(([name]) => others.every((other) => other[name] !== undefined));
  return Object.fromEntries(
    shared.map(([name, amount]) => [name, Math.min(amount, ...others.map((other) => other[name] ?? 0))]),
  );
}

/** Whether there is room for all that is wanted; rounding of sums is forgiven. */
export function fitsInto(wanted: Resources, room: Resources): boolean {
  return Object.entries(wanted).every(([name, amount]) => isWithin(amount, room[name] ?? 0));
}

/** Whether an amount is not beyond a limit; rounding of sums is forgiven. */
export function isWithin(amount: number, limit: number): boolean {
  return amount <= limit * (1 + 1e-12);
}

/**
 * What the scheduler reserves for a pod: its containers and sidecars together, or an init container with the sidecars before it if that
 * is more, and the overhead; and its place among the node's pods.
 */
export function podRequests({ spec }: Pod): Resources {
  let sidecars: Resources = {};
  let initPeak: Resources = {};
  for (const container of spec.initContainers ?? []) {
    const own = parseResources(container.resources?.requests);
    if (container.restartPolicy === 'Always') sidecars = sumResources(sidecars, own);
    initPeak = maxResources(initPeak, container.restartPolicy === 'Always' ? sidecars : sumResources(sidecars, own));
  }
  const containers = spec.containers.map(({ resources }) => parseResources(resources?.requests));
  const running = sumResources(sidecars, ...containers);
  // What is asked for the pod as a whole stands for its containers.
  const asked = { ...maxResources(running, initPeak), ...parseResources(spec.resources?.requests) };
  return sumResources(asked, parseResources(spec.overhead), { pods: 1 });
}

const binaryResources = new Set(['memory', 'ephemeral-storage']);

/** The amounts as Kubernetes quantities: whole bytes, thousandths of everything else. */
export function formatResources(resources: Resources): ResourceList {
  return Object.fromEntries(
    Object.entries(resources).map(([name, amount]) => [name, formatQuantity(amount, binaryResources.has(name))]),
  );
}

function formatQuantity(amount: number, isBytes: boolean): string {
  if (isBytes) return String(Math.ceil(amount));
  return Number.isInteger(amount) ? String(amount) : `${Math.ceil(amount * 1000 - 1e-6)}m`;
}
