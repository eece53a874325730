import type { ResourceList } from '../../karpenter/api.js';
import { parseQuantity } from '../../karpenter/quantity.js';
import { parseCpuMillis } from './cpuMillis.js';
import type { Node, Pod } from './objects.js';
import { isFinished } from './objects.js';

/** An amount of what pods take and nodes offer. */
export interface Resources {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  readonly pods: number;
}

const nothing: Resources = { cpuMillis: 0, memoryBytes: 0, pods: 0 };

function parseResources(list: ResourceList | undefined): Resources {
  return {
    cpuMillis: parseCpuMillis(list?.['cpu'] ?? '0'),
    memoryBytes: parseQuantity(list?.['memory'] ?? '0'),
    pods: parseQuantity(list?.['pods'] ?? '0'),
  };
}

function add(a: Resources, b: Resources): Resources {
  return {
    cpuMillis: a.cpuMillis + b.cpuMillis,
    memoryBytes: a.memoryBytes + b.memoryBytes,
    pods: a.pods + b.pods,
  };
}

function larger(a: Resources, b: Resources): Resources {
  return {
    cpuMillis: Math.max(a.cpuMillis, b.cpuMillis),
    memoryBytes: Math.max(a.memoryBytes, b.memoryBytes),
    pods: Math.max(a.pods, b.pods),
  };
}

/** What a pod asks for: its containers and sidecars together, or its largest init container (run before them), plus overhead. */
export function podRequests(pod: Pod): Resources {
  const requestsOf = (container: Pod['spec']['containers'][number]): Resources =>
    parseResources(container.resources?.requests);
  let sidecars = nothing;
  let initial = nothing;
  for (const container of pod.spec.initContainers ?? []) {
    if (container.restartPolicy === 'Always') sidecars = add(sidecars, requestsOf(container));
    else initial = larger(initial, add(sidecars, requestsOf(container)));
  }
  const running = pod.spec.containers.map(requestsOf).reduce(add, sidecars);
  return { ...add(larger(running, initial), parseResources(pod.spec.overhead)), pods: 1 };
}

interface Placement {
  readonly nodeName: string;
  readonly requests: Resources;
}

/** What is taken on each node: by the pods that the informer shows there, and by those whose binding it does not show yet. */
export class SchedulingUsage {
  readonly #placements = new Map<string, Placement>();
  readonly #usedByNode = new Map<string, Resources>();
  /** Parsed once for each state of a Node: every decision looks at every Node. */
  readonly #offeredByNode = new WeakMap<Node, Resources>();

  offeredBy(node: Node): Resources {
    const known = this.#offeredByNode.get(node);
    if (known !== undefined) return known;
    const offered = parseResources(node.status?.allocatable);
    this.#offeredByNode.set(node, offered);
    return offered;
  }

  usedOn(nodeName: string): Resources {
    return this.#usedByNode.get(nodeName) ?? nothing;
  }

  isPlaced(pod: Pod): boolean {
    return this.#placements.has(pod.metadata.uid);
  }

  /** Takes in what the informer shows. A pod that it shows unbound may have been assumed to be bound since. */
  observe(pod: Pod): void {
    if (isFinished(pod)) this.forget(pod);
    else if (pod.spec.nodeName !== undefined) this.place(pod, pod.spec.nodeName);
  }

  place(pod: Pod, nodeName: string): void {
    if (this.#placements.get(pod.metadata.uid)?.nodeName === nodeName) return;
    this.forget(pod);
    const requests = podRequests(pod);
    this.#placements.set(pod.metadata.uid, { nodeName, requests });
    this.#usedByNode.set(nodeName, add(this.usedOn(nodeName), requests));
  }

  forget(pod: Pod): void {
    const placement = this.#placements.get(pod.metadata.uid);
    if (placement === undefined) return;
    this.#placements.delete(pod.metadata.uid);
    const used = this.usedOn(placement.nodeName);
    const remaining = {
      cpuMillis: used.cpuMillis - placement.requests.cpuMillis,
      memoryBytes: used.memoryBytes - placement.requests.memoryBytes,
      pods: used.pods - placement.requests.pods,
    };
    if (remaining.pods === 0) this.#usedByNode.delete(placement.nodeName);
    else this.#usedByNode.set(placement.nodeName, remaining);
  }
}
