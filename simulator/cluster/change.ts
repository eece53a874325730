import type { ResourceType } from './resources.js';
import type { Selection } from './selection.js';
import { isSelected } from './selection.js';
import { StoredObject } from './storedObject.js';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One line of a watch. */
export function watchLine(type: EventType | 'BOOKMARK' | 'ERROR', objectJson: string): Buffer {
  return Buffer.from(`{"type":"${type}","object":${objectJson}}\n`);
}

/** One write to the store, as watches are told of it. Each line is serialized at most once for all watches. */
export class Change {
  readonly #lines = new Map<EventType, Buffer>();

  constructor(
    readonly type: ResourceType,
    readonly revision: number,
    readonly before: StoredObject | undefined,
    readonly after: StoredObject | undefined,
  ) {}

  /** The line for a watch of that selection; undefined when it does not concern it. */
  lineFor(selection: Selection): Buffer | undefined {
    const event = this.eventFor(selection);
    return event === undefined ? undefined : this.#line(event);
  }

  /** The object as the event shows it. */
  objectAt(event: EventType): StoredObject | undefined {
    return event === 'DELETED' ? this.#lastState() : this.after;
  }

  /** What the change is to a watch of that selection; undefined when it does not concern it. */
  eventFor(selection: Selection): EventType | undefined {
    const wasSelected = this.before !== undefined && isSelected(selection, this.before.object);
    const isSelectedNow = this.after !== undefined && isSelected(selection, this.after.object);
    if (isSelectedNow) return wasSelected ? 'MODIFIED' : 'ADDED';
    return wasSelected ? 'DELETED' : undefined;
  }

  #line(event: EventType): Buffer {
    const known = this.#lines.get(event);
    if (known !== undefined) return known;
    const line = watchLine(event, this.objectAt(event)?.json ?? '');
    this.#lines.set(event, line);
    return line;
  }

  /** What is gone is shown as it last was, at the revision at which it went. */
  #lastState(): StoredObject | undefined {
    if (this.before === undefined) return undefined;
    const { object } = this.before;
    const metadata = { ...object.metadata, resourceVersion: String(this.revision) };
    return new StoredObject({ ...object, metadata });
  }
}
