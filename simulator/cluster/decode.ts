import { isFields } from './objects.js';
import type { Shape, StructShape } from './shape.js';

/** What is left of a client's object, and what was not known in it. */
export interface Decoded {
  readonly value: unknown;
  /** Paths as the API server writes them, e.g. `spec.containers[0].imagePolicy`. */
  readonly unknownFields: readonly string[];
}

/** A field holds something else than its type allows. */
export class WrongTypeError extends Error {
  override readonly name = 'WrongTypeError';
}

const goTypes = { string: 'string', number: 'int32', boolean: 'bool' } as const;

function jsonTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function goTypeOf(shape: Shape): string {
  switch (shape.type) {
    case 'any':
      return 'interface {}';
    case 'string':
    case 'number':
    case 'boolean':
      return goTypes[shape.type];
    case 'list':
      return `[]${goTypeOf(shape.items)}`;
    case 'map':
      return `map[string]${goTypeOf(shape.values)}`;
    case 'struct':
      return shape.name.replace(/^.*V1/, 'v1.');
  }
}

/** Where the decoder is: the struct whose field it reads, and the path with and without list indices. */
interface Place {
  readonly struct: string;
  readonly names: readonly string[];
  readonly path: string;
}

function wrongType(place: Place, shape: Shape, value: unknown): WrongTypeError {
  const field = `${place.struct}.${place.names.join('.')}`;
  return new WrongTypeError(
    `json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field ${field} of type ${goTypeOf(shape)}`,
  );
}

class Decoder {
  readonly unknownFields: string[] = [];

  decode(shape: Shape, value: unknown, place: Place): unknown {
    if (value === null || value === undefined) return value;
    switch (shape.type) {
      case 'any':
        return value;
      case 'string':
      case 'number':
      case 'boolean':
        if (typeof value !== shape.type) throw wrongType(place, shape, value);
        return value;
      case 'list':
        if (!Array.isArray(value)) throw wrongType(place, shape, value);
        return value.map((item, index) =>
          this.decode(shape.items, item, { ...place, path: `${place.path}[${index}]` }),
        );
      case 'map':
        if (!isFields(value)) throw wrongType(place, shape, value);
        return Object.fromEntries(
          Object.entries(value).map(([key, each]) => [
            key,
            this.decode(shape.values, each, { ...place, path: `${place.path}.${key}` }),
          ]),
        );
      case 'struct':
        if (!isFields(value)) throw wrongType(place, shape, value);
        return this.#decodeStruct(shape, value, place);
    }
  }

  #decodeStruct(struct: StructShape, value: Readonly<Record<string, unknown>>, { names, path }: Place): unknown {
    const kept: [string, unknown][] = [];
    for (const [name, field] of Object.entries(value)) {
      const shape = struct.fields().get(name);
      const fieldPath = path === '' ? name : `${path}.${name}`;
      if (shape === undefined) {
        this.unknownFields.push(fieldPath);
        continue;
      }
      const place = { struct: struct.name.replace(/^.*V1/, ''), names: [...names, name], path: fieldPath };
      kept.push([name, this.decode(shape, field, place)]);
    }
    return Object.fromEntries(kept);
  }
}

/**
 * Reads a value as Go's decoder reads it into a struct: fields that it does not have are dropped.
 * @throws WrongTypeError
 */
export function decode(struct: StructShape, value: unknown): Decoded {
  const decoder = new Decoder();
  const decoded = decoder.decode(struct, value, { struct: '', names: [], path: '' });
  return { value: decoded, unknownFields: decoder.unknownFields };
}
