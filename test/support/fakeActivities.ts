import { ApplicationFailure } from '@temporalio/common';

import { until } from '../../demo/until.js';
import type {
  ArmWriteActivities,
  CreateRequest,
  ReplacementActivities,
  RolloutActivities,
} from '../../workflows/activityInterfaces.js';
import type { LaunchFailedDetails } from '../../workflows/failures.js';
import { failureTypes } from '../../workflows/failures.js';
import type { Deletion, Launch, LaunchName, ReplacementRef } from '../../workflows/replacementTypes.js';

export type Activities = RolloutActivities & ReplacementActivities & ArmWriteActivities;
export type ActivityName = keyof Activities;

/** One attempt of an activity. */
export type ActivityCall = {
  [Name in ActivityName]: {
    readonly name: Name;
    readonly args: Parameters<Activities[Name]>;
    readonly atMs: number;
  };
}[ActivityName];

type CallOf<Name extends ActivityName> = Extract<ActivityCall, { readonly name: Name }>;

export const firstOffering = {
  instanceType: 'Standard_D2as_v5',
  zone: 'westus2-1',
  capacityType: 'on-demand',
} as const;
export const secondOffering = { ...firstOffering, zone: 'westus2-2' } as const;

const callTimeoutMs = 10_000;
/** Longer than any test. */
const foreverMs = 30_000;

/** What an activity does that has nothing to tell yet: ends this attempt, has Temporal make the next one after the delay. */
export function lookAgainIn(delayMs: number): Promise<never> {
  return Promise.reject(
    ApplicationFailure.create({ type: failureTypes.waiting, message: 'not there yet', nextRetryDelay: delayMs }),
  );
}

/** Waits longer than any test lasts: there is one attempt. */
export function goOnWaiting(): Promise<never> {
  return lookAgainIn(foreverMs);
}

/** What pollLaunch, initialize and createReplacement do when a launch has failed. */
export function failLaunch(details: LaunchFailedDetails): Promise<never> {
  return Promise.reject(
    ApplicationFailure.nonRetryable(`${details.code}: ${details.message}`, failureTypes.launchFailed, details),
  );
}

/** The name of the replacement that the fakes create. */
export function replacementOf(ref: ReplacementRef, { round, attempt }: LaunchName): string {
  return `${ref.nodeClaim}-r${round}-${attempt}`;
}

function launchOf(ref: ReplacementRef, request: CreateRequest): Launch {
  const nodeClaim = replacementOf(ref, request);
  return {
    nodeClaim,
    uid: `uid-${nodeClaim}`,
    virtualMachine: `aks-${nodeClaim}`,
    providerId: `azure:///${nodeClaim}`,
    offering: request.offering,
    resumeToken: `create-${nodeClaim}`,
  };
}

function deletionOf(nodeClaim: string, uid: string): Deletion {
  return { nodeClaim, uid, virtualMachine: `aks-${nodeClaim}`, resumeToken: `delete-${nodeClaim}` };
}

/** What the activities do unless a test says otherwise. */
export function everythingGoesWell(): Activities {
  return {
    observePool: () => Promise.reject(ApplicationFailure.nonRetryable('this test has no pool')),
    markWaiting: () => Promise.resolve(),
    findNodeClaim: ({ nodeClaim }) => Promise.resolve({ nodeClaim, uid: `uid-${nodeClaim}` }),
    reserve: () =>
      Promise.resolve({ kind: 'reserved', offerings: [firstOffering, secondOffering], imageId: 'image-1' }),
    createReplacement: (ref, request) => Promise.resolve(launchOf(ref, request)),
    pollLaunch: () => Promise.resolve(),
    initialize: () => Promise.resolve(),
    drain: () => Promise.resolve(),
    beginDeletion: (ref) => Promise.resolve(deletionOf(ref.nodeClaim, ref.uid)),
    beginRemoval: (ref, name) => {
      const nodeClaim = replacementOf(ref, name);
      return Promise.resolve({ kind: 'deleting', deletion: deletionOf(nodeClaim, `uid-${nodeClaim}`) });
    },
    followDeletion: () => Promise.resolve(),
    waitUntilResumed: () => Promise.resolve(),
    release: () => Promise.resolve(),
  };
}

/** Stands in for the world of one NodePool: records what workflows ask for, and does what the test says. */
export class FakeActivities {
  readonly #calls: ActivityCall[] = [];
  /** What each activity does: all goes well until a test puts something else here. */
  readonly does: Activities = everythingGoesWell();

  /** The names of all attempts so far, in order. */
  get names(): readonly ActivityName[] {
    return this.#calls.map(({ name }) => name);
  }

  /** The attempts of one activity so far, in order. */
  callsOf<Name extends ActivityName>(name: Name): readonly CallOf<Name>[] {
    return this.#calls.filter((call): call is CallOf<Name> => call.name === name);
  }

  /** Waits for an activity to be asked for so many times; answers the last of these attempts. */
  async called<Name extends ActivityName>(name: Name, times = 1): Promise<CallOf<Name>> {
    return await until(`${times} calls of ${name}`, callTimeoutMs, () =>
      Promise.resolve(this.callsOf(name)[times - 1]),
    );
  }

  /** What a worker runs. */
  recorded(): Activities {
    return {
      observePool: (...args) => {
        this.#calls.push({ name: 'observePool', args, atMs: Date.now() });
        return this.does.observePool(...args);
      },
      markWaiting: (...args) => {
        this.#calls.push({ name: 'markWaiting', args, atMs: Date.now() });
        return this.does.markWaiting(...args);
      },
      findNodeClaim: (...args) => {
        this.#calls.push({ name: 'findNodeClaim', args, atMs: Date.now() });
        return this.does.findNodeClaim(...args);
      },
      reserve: (...args) => {
        this.#calls.push({ name: 'reserve', args, atMs: Date.now() });
        return this.does.reserve(...args);
      },
      createReplacement: (...args) => {
        this.#calls.push({ name: 'createReplacement', args, atMs: Date.now() });
        return this.does.createReplacement(...args);
      },
      pollLaunch: (...args) => {
        this.#calls.push({ name: 'pollLaunch', args, atMs: Date.now() });
        return this.does.pollLaunch(...args);
      },
      initialize: (...args) => {
        this.#calls.push({ name: 'initialize', args, atMs: Date.now() });
        return this.does.initialize(...args);
      },
      drain: (...args) => {
        this.#calls.push({ name: 'drain', args, atMs: Date.now() });
        return this.does.drain(...args);
      },
      beginDeletion: (...args) => {
        this.#calls.push({ name: 'beginDeletion', args, atMs: Date.now() });
        return this.does.beginDeletion(...args);
      },
      beginRemoval: (...args) => {
        this.#calls.push({ name: 'beginRemoval', args, atMs: Date.now() });
        return this.does.beginRemoval(...args);
      },
      followDeletion: (...args) => {
        this.#calls.push({ name: 'followDeletion', args, atMs: Date.now() });
        return this.does.followDeletion(...args);
      },
      waitUntilResumed: (...args) => {
        this.#calls.push({ name: 'waitUntilResumed', args, atMs: Date.now() });
        return this.does.waitUntilResumed(...args);
      },
      release: (...args) => {
        this.#calls.push({ name: 'release', args, atMs: Date.now() });
        return this.does.release(...args);
      },
    };
  }
}
