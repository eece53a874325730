import { errorMessage } from '../../runtime/errors.js';
import type { Behaviour, BehaviourContext } from './behaviour.js';
import type { KubeletTimes } from './kubelet.js';
import { Kubelet } from './kubelet.js';
import type { Machine } from './machine.js';
import type { MachineFeed } from './machineFeed.js';

/** A kubelet on each machine that runs. */
export class Kubelets implements Behaviour {
  readonly #kubelets = new Map<string, Kubelet>();
  readonly #stops = new Set<Promise<void>>();
  #started = false;

  constructor(
    private readonly context: BehaviourContext,
    private readonly feed: MachineFeed,
    private readonly times: KubeletTimes,
  ) {
    const { nodes, pods } = context.informers;
    nodes.onChange(({ object }) => this.#kubelets.get(object.metadata.name)?.nodeChanged());
    pods.onChange(({ type, object }) => {
      const kubelet = this.#kubelets.get(object.spec.nodeName ?? '');
      if (type === 'set') kubelet?.podChanged(object);
      else kubelet?.podGone(object);
    });
    feed.onEvent((event) => {
      if (!this.#started) return;
      switch (event.type) {
        case 'started':
          this.#switchOn(event.machine);
          break;
        case 'stopped':
          this.#switchOff(event.machine);
          break;
        case 'connected':
          break;
      }
    });
  }

  start(): void {
    this.#started = true;
    for (const machine of this.feed.running.values()) this.#switchOn(machine);
  }

  async stop(): Promise<void> {
    this.#started = false;
    for (const { machine } of this.#kubelets.values()) this.#switchOff(machine);
    await Promise.all(this.#stops);
  }

  #switchOn(machine: Machine): void {
    try {
      const kubelet = new Kubelet(machine, this.context, this.times);
      this.#kubelets.set(machine.name, kubelet);
      kubelet.start();
    } catch (error) {
      this.context.log.error({ machine: machine.name, error: errorMessage(error) }, 'the kubelet does not start');
    }
  }

  #switchOff(machine: Machine): void {
    const kubelet = this.#kubelets.get(machine.name);
    if (kubelet === undefined) return;
    this.#kubelets.delete(machine.name);
    const stopped = kubelet.stop().finally(() => this.#stops.delete(stopped));
    this.#stops.add(stopped);
  }
}
