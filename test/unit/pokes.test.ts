import { afterEach, describe, expect, it } from '@jest/globals';

import { Pokes } from '../../client/watcher/pokes.js';
import { createLog } from '../../runtime/log.js';
import { eventually } from '../support/eventually.js';

const log = createLog('unit', 'silent');
/** Longer than any test: who waits for that never sends. */
const foreverMs = 3_600_000;

/** A Temporal that answers when the test says so, and notes who was poked. */
class Receiver {
  readonly sent: string[] = [];
  readonly #open: { nodePool: string; answer: () => void; refuse: (error: Error) => void }[] = [];

  readonly send = (nodePool: string): Promise<void> =>
    new Promise((resolve, reject) => {
      this.sent.push(nodePool);
      this.#open.push({ nodePool, answer: resolve, refuse: reject });
    });

  get underWay(): string[] {
    return this.#open.map(({ nodePool }) => nodePool);
  }

  answer(): void {
    this.#open.shift()?.answer();
  }

  refuse(): void {
    this.#open.shift()?.refuse(new Error('unavailable'));
  }
}

let started: Pokes[] = [];

function startPokes(receiver: Receiver, { gatherMs = 0, retryDelayMs = 1 } = {}): Pokes {
  const pokes = new Pokes({ gatherMs, retryDelayMs, send: receiver.send, log });
  started.push(pokes);
  return pokes;
}

afterEach(async () => {
  const stopped = started.map((pokes) => pokes.stop());
  started = [];
  await Promise.all(stopped);
});

describe('pokes of a pool', () => {
  it('are gathered: a hundred at once are one', async () => {
    const receiver = new Receiver();
    const pokes = startPokes(receiver, { gatherMs: 20 });
    for (let count = 0; count < 100; count += 1) pokes.poke('general-purpose');
    expect(receiver.sent).toEqual([]);
    await eventually(() => {
      expect(receiver.underWay).toEqual(['general-purpose']);
    });
    receiver.answer();
    await pokes.stop();
    expect(receiver.sent).toEqual(['general-purpose']);
  });

  it('are sent one at a time; what comes meanwhile is one more', async () => {
    const receiver = new Receiver();
    const pokes = startPokes(receiver);
    pokes.poke('general-purpose');
    await eventually(() => {
      expect(receiver.underWay).toHaveLength(1);
    });
    pokes.poke('general-purpose');
    pokes.poke('general-purpose');
    // Another pool goes all the way meanwhile: the first one's second poke has had its chance.
    pokes.poke('gpu');
    await eventually(() => {
      expect(receiver.underWay).toEqual(['general-purpose', 'gpu']);
    });
    receiver.answer();
    await eventually(() => {
      expect(receiver.underWay).toEqual(['gpu', 'general-purpose']);
    });
    receiver.answer();
    receiver.answer();
    await pokes.stop();
    expect(receiver.sent).toEqual(['general-purpose', 'gpu', 'general-purpose']);
  });

  it('begin anew after the last one has arrived', async () => {
    const receiver = new Receiver();
    const pokes = startPokes(receiver);
    for (const count of [1, 2, 3]) {
      pokes.poke('general-purpose');
      await eventually(() => {
        expect(receiver.sent).toHaveLength(count);
      });
      receiver.answer();
      await eventually(() => {
        expect(receiver.underWay).toEqual([]);
      });
    }
  });

  it('are tried until they arrive', async () => {
    const receiver = new Receiver();
    const pokes = startPokes(receiver);
    pokes.poke('general-purpose');
    for (const failures of [1, 2, 3, 4]) {
      await eventually(() => {
        expect(receiver.sent).toHaveLength(failures);
      });
      receiver.refuse();
    }
    await eventually(() => {
      expect(receiver.underWay).toHaveLength(1);
    });
    receiver.answer();
    await pokes.stop();
    expect(receiver.sent).toHaveLength(5);
  });

  it('wait before they are tried again', async () => {
    const receiver = new Receiver();
    const pokes = startPokes(receiver, { retryDelayMs: foreverMs });
    pokes.poke('general-purpose');
    await eventually(() => {
      expect(receiver.underWay).toHaveLength(1);
    });
    receiver.refuse();
    pokes.poke('gpu');
    await eventually(() => {
      expect(receiver.underWay).toEqual(['gpu']);
    });
    receiver.answer();
    expect(receiver.sent).toEqual(['general-purpose', 'gpu']);
  });

  it('of one pool do not wait for another’s that fails', async () => {
    const receiver = new Receiver();
    const pokes = startPokes(receiver, { retryDelayMs: foreverMs });
    pokes.poke('bad');
    await eventually(() => {
      expect(receiver.underWay).toEqual(['bad']);
    });
    for (const pool of ['a', 'b', 'c']) pokes.poke(pool);
    await eventually(() => {
      expect(receiver.underWay).toEqual(['bad', 'a', 'b', 'c']);
    });
    while (receiver.underWay.length > 0) receiver.refuse();
  });
});

describe('stopping', () => {
  it('drops what is still gathered', async () => {
    const receiver = new Receiver();
    const pokes = startPokes(receiver, { gatherMs: foreverMs });
    pokes.poke('general-purpose');
    await pokes.stop();
    expect(receiver.sent).toEqual([]);
  });

  it('drops what waits to be tried again', async () => {
    const receiver = new Receiver();
    const pokes = startPokes(receiver, { retryDelayMs: foreverMs });
    pokes.poke('bad');
    await eventually(() => {
      expect(receiver.underWay).toEqual(['bad']);
    });
    receiver.refuse();
    // When another pool's poke is on its way, the refusal has been taken in.
    pokes.poke('good');
    await eventually(() => {
      expect(receiver.underWay).toEqual(['good']);
    });
    receiver.answer();
    await pokes.stop();
    expect(receiver.sent).toEqual(['bad', 'good']);
  });

  it('waits for what is on its way, and sends nothing more', async () => {
    const receiver = new Receiver();
    const pokes = startPokes(receiver);
    pokes.poke('general-purpose');
    await eventually(() => {
      expect(receiver.underWay).toHaveLength(1);
    });
    pokes.poke('general-purpose');
    const events: string[] = [];
    const stopped = pokes.stop().then(() => events.push('stopped'));
    await new Promise(setImmediate);
    events.push('answered');
    receiver.answer();
    await stopped;
    expect(events).toEqual(['answered', 'stopped']);
    expect(receiver.sent).toHaveLength(1);
  });

  it('has later pokes ignored', async () => {
    const receiver = new Receiver();
    const pokes = startPokes(receiver);
    await pokes.stop();
    pokes.poke('general-purpose');
    await pokes.stop();
    expect(receiver.sent).toEqual([]);
  });
});
