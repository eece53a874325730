import * as kubernetes from '@kubernetes/client-node';
import { z } from 'zod';

/** What a field of a built-in type may hold. */
export type Shape =
  | { readonly type: 'any' | 'string' | 'number' | 'boolean' }
  | { readonly type: 'list'; readonly items: Shape }
  | { readonly type: 'map'; readonly values: Shape }
  | { readonly type: 'struct'; readonly name: string; readonly fields: () => ReadonlyMap<string, Shape> };
export type StructShape = Extract<Shape, { type: 'struct' }>;

const modelSchema = z.custom<{ getAttributeTypeMap(): unknown }>(
  (value) => typeof value === 'function' && 'getAttributeTypeMap' in value,
);
const attributesSchema = z.array(z.object({ baseName: z.string(), type: z.string() }));

/** Quantities are texts in the models, yet a client may send them as numbers. */
const quantities = new Set(['limits', 'requests', 'capacity', 'allocatable', 'hard', 'used', 'sizeLimit', 'divisor']);

function shapeOf(typeName: string): Shape {
  const [, item] = /^Array<(.*)>$/.exec(typeName) ?? [];
  if (item !== undefined) return { type: 'list', items: shapeOf(item) };
  const [, value] = /^\{ \[key: string\]: (.*); \}$/.exec(typeName) ?? [];
  if (value !== undefined) return { type: 'map', values: shapeOf(value) };
  switch (typeName) {
    case 'string':
    case 'Date':
    case 'V1MicroTime':
      return { type: 'string' };
    case 'number':
    case 'boolean':
      return { type: typeName };
    default:
      return structOf(typeName) ?? { type: 'any' };
  }
}

const structs = new Map<string, StructShape | undefined>();

/** The struct of that name among the models of the client library, which are made from Kubernetes' OpenAPI document. */
export function structOf(name: string): StructShape | undefined {
  if (!structs.has(name)) structs.set(name, readStruct(name));
  return structs.get(name);
}

function readStruct(name: string): StructShape | undefined {
  const model = modelSchema.safeParse(Reflect.get(kubernetes, name));
  if (!model.success) return undefined;
  let known: ReadonlyMap<string, Shape> | undefined;
  const read = (): ReadonlyMap<string, Shape> =>
    new Map(
      attributesSchema.parse(model.data.getAttributeTypeMap()).map(({ baseName, type }) => {
        return [baseName, quantities.has(baseName) ? { type: 'any' } : shapeOf(type)];
      }),
    );
  return { type: 'struct', name, fields: () => (known ??= read()) };
}

/** The struct of a kind, e.g. of `Node`. */
export function structOfKind(kind: string): StructShape {
  const struct = structOf(`V1${kind}`) ?? structOf(`CoreV1${kind}`);
  if (struct === undefined) throw new Error(`the client library has no model of the kind ${kind}`);
  return struct;
}
