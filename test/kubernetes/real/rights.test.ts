import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';

import { readAuditLog } from '../rights/auditedRequests.js';
import type { DeployedControlPlane } from '../rights/deployedControlPlane.js';
import { startDeployedControlPlane, userNameOf } from '../rights/deployedControlPlane.js';
import type { Subject } from '../rights/grantedRights.js';
import { grantedRights } from '../rights/grantedRights.js';
import type { Judgement } from '../rights/judgeRights.js';
import { judgeRights } from '../rights/judgeRights.js';
import { rehearse } from '../rights/rehearsal.js';

interface Actor {
  readonly who: string;
  /** To the API server. */
  readonly user: string;
  readonly subject: Subject;
}

function serviceAccount(name: string): Actor {
  const subject = { kind: 'ServiceAccount', name, namespace: 'driftless' } as const;
  return { who: `the ServiceAccount ${name}`, user: userNameOf(name), subject };
}

const actors: readonly Actor[] = [
  serviceAccount('driftless-worker'),
  serviceAccount('driftless-watcher'),
  { who: 'the group driftless-operators', user: 'operator', subject: { kind: 'Group', name: 'driftless-operators' } },
];
const lookEveryMs = 500;

let controlPlane: DeployedControlPlane;

async function judge({ user, subject }: Actor): Promise<Judgement> {
  const requests = await readAuditLog(controlPlane.auditLogPath, user);
  return judgeRights(grantedRights(controlPlane.manifests, subject), requests);
}

/** Whoever lacks a right may try again for ever: it is told at once. */
async function failAtRefusal(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const actor of actors) {
      const { refused } = await judge(actor);
      if (refused.length > 0) throw new Error(`${actor.who} was refused: ${refused.join('; ')}`);
    }
    await delay(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
}

beforeAll(async () => {
  controlPlane = await startDeployedControlPlane();
  const ending = new AbortController();
  const rehearsal = rehearse(controlPlane, ending.signal);
  try {
    await Promise.race([rehearsal, failAtRefusal(ending.signal)]);
  } finally {
    ending.abort();
    await Promise.allSettled([rehearsal]);
  }
}, 420_000);

afterAll(() => controlPlane.stop());

describe('the rights in deploy/', () => {
  it.each(actors)('of $who are all that it needs, and no more', async (actor) => {
    expect(await judge(actor)).toEqual({ refused: [], allowedElsewhere: [], unneeded: [], tooWide: [] });
  });
});
