/** Pods that were created and that the informer does not show yet: without counting them a slow informer makes too many pods. */
export class CreationExpectations {
  /** Real milliseconds after which a pod that never showed up is not expected any more: it was deleted before it was seen. */
  readonly lifetimeMs = 10_000;
  readonly #expected = new Map<string, Map<string, number>>();

  expect(owner: string, uid: string): void {
    const uids = this.#expected.get(owner) ?? new Map<string, number>();
    uids.set(uid, performance.now() + this.lifetimeMs);
    this.#expected.set(owner, uids);
  }

  seen(owner: string, uid: string): void {
    const uids = this.#expected.get(owner);
    uids?.delete(uid);
    if (uids?.size === 0) this.#expected.delete(owner);
  }

  /** How many of the owner's pods the informer has still to show. */
  unseen(owner: string): number {
    const uids = this.#expected.get(owner);
    if (uids === undefined) return 0;
    const now = performance.now();
    for (const [uid, untilMs] of uids) if (untilMs <= now) this.seen(owner, uid);
    return this.#expected.get(owner)?.size ?? 0;
  }
}
