/** What was seen of a write, at the earliest when it was done. */
export interface SeenWrite {
  /** Wall-clock milliseconds. */
  readonly at: number;
  /** The resourceVersion that it made, which is etcd's revision and thus counts the writes of all resources; undefined: not known. */
  readonly revision: number | undefined;
}

/** The revision of an object as a write has left it. */
export function revisionOf(object: {
  readonly metadata: { readonly resourceVersion?: string | undefined };
}): number | undefined {
  const revision = Number(object.metadata.resourceVersion);
  return Number.isSafeInteger(revision) ? revision : undefined;
}

/**
 * In the order in which the writes were made. They are seen in another one: requests are answered, and watches told, side by side. The
 * instant of each becomes the first at which it or any later one was seen, as it was done by then.
 */
export function inOrderOfRevision<Seen extends SeenWrite>(seen: readonly Seen[]): Seen[] {
  const known = new Set<number>();
  const numbered: { readonly write: Seen; readonly revision: number }[] = [];
  const others: Seen[] = [];
  for (const write of seen) {
    const { revision } = write;
    // Seen again, it is no write: a patch that changed nothing, or the last that was known of an object that has gone.
    if (revision === undefined || known.has(revision)) {
      others.push(write);
      continue;
    }
    known.add(revision);
    numbered.push({ write, revision });
  }
  numbered.sort((one, other) => other.revision - one.revision);
  let doneBy = Infinity;
  const writes = numbered.map(({ write }) => {
    doneBy = Math.min(doneBy, write.at);
    return { ...write, at: doneBy };
  });
  return [...writes.reverse(), ...others].sort((one, other) => one.at - other.at);
}
