import { afterEach, describe, expect, it } from '@jest/globals';

import type { HealthServer } from '../../runtime/health.js';
import { serveHealth, whyNotReady } from '../../runtime/health.js';
import { createLog } from '../../runtime/log.js';

const log = createLog('unit', 'silent');
let started: HealthServer[] = [];

async function serve(readiness: () => Promise<string | undefined>, port = 0): Promise<string> {
  const health = await serveHealth(port, log, readiness);
  started.push(health);
  return `http://127.0.0.1:${String(health.port)}`;
}

async function ask(url: string, method = 'GET'): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(url, { method });
  return { status: answer.status, text: await answer.text() };
}

afterEach(async () => {
  await Promise.all(started.map((health) => health.close()));
  started = [];
});

describe('the probes of a process', () => {
  it('are answered: it lives, and is ready or says why not', async () => {
    let why: string | undefined = 'starting';
    const address = await serve(() => Promise.resolve(why));
    expect(await ask(`${address}/readyz`)).toEqual({ status: 503, text: 'starting\n' });
    expect(await ask(`${address}/livez`)).toEqual({ status: 200, text: 'ok\n' });
    why = undefined;
    expect(await ask(`${address}/readyz?verbose`)).toEqual({ status: 200, text: 'ok\n' });
  });

  it('say that it is not ready when that cannot be found out', async () => {
    const address = await serve(() => Promise.reject(new Error('no idea')));
    expect(await ask(`${address}/readyz`)).toEqual({ status: 503, text: 'no idea\n' });
  });

  it('are all that is served', async () => {
    const address = await serve(() => Promise.resolve(undefined));
    expect(await ask(`${address}/metrics`)).toEqual({ status: 404, text: 'there are /livez and /readyz\n' });
    expect(await ask(`${address}/readyz`, 'POST')).toEqual({ status: 405, text: 'only GET\n' });
  });

  it('are served nowhere unless a port is given', async () => {
    const health = await serveHealth(undefined, log, () => Promise.resolve(undefined));
    expect(health.port).toBeUndefined();
    await health.close();
  });

  it('name the option of a port that is taken', async () => {
    const { port } = new URL(await serve(() => Promise.resolve(undefined)));
    await expect(serve(() => Promise.resolve(undefined), Number(port))).rejects.toThrow(
      new RegExp(`^--health-port ${port}: .*EADDRINUSE`),
    );
  });
});

describe('a process is not ready', () => {
  const running = { whyNotReady: () => Promise.resolve('Temporal is away') };

  it('while it starts, while it stops, and when what it runs says so', async () => {
    const stopping = new AbortController();
    expect(await whyNotReady(stopping.signal, undefined)).toBe('starting');
    expect(await whyNotReady(stopping.signal, running)).toBe('Temporal is away');
    stopping.abort();
    expect(await whyNotReady(stopping.signal, running)).toBe('stopping');
  });
});
