import type { FakeActivities } from './fakeActivities.js';
import { everythingGoesWell, failLaunch, replacementOf } from './fakeActivities.js';

export const noRoom = { code: 'SkuNotAvailable', message: 'sold out', anotherOffering: false } as const;

/** Azure refuses the replacements of a NodeClaim in the rounds that are given. */
export function refuseLaunches(fakes: FakeActivities, refused: Readonly<Record<string, readonly number[]>>): void {
  fakes.does.createReplacement = (ref, request) =>
    refused[ref.nodeClaim]?.includes(request.round) === true
      ? failLaunch({ ...noRoom, nodeClaim: replacementOf(ref, request) })
      : everythingGoesWell().createReplacement(ref, request);
}

/** NodeClaim and round of every launch so far. */
export function launchesOf(fakes: FakeActivities): readonly string[] {
  return fakes.callsOf('createReplacement').map(({ args: [{ nodeClaim }, { round }] }) => `${nodeClaim} ${round}`);
}
