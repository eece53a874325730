import { z } from 'zod';

const named = z.object({ metadata: z.object({ name: z.string() }) });
const listSchema = z.object({
  metadata: z
    .object({
      resourceVersion: z.string().default(''),
      continue: z.string().optional(),
      /** client-node's spelling in typed lists. */
      _continue: z.string().optional(),
    })
    .default({ resourceVersion: '' }),
  items: z.array(z.unknown()),
});

/**
 * Reads one object of the API server.
 * @throws Error that names kind, object and field when a field that Driftless reads is not what it should be
 */
export function parseObject<S extends z.ZodType>(kind: string, schema: S, object: unknown): z.output<S> {
  const result = schema.safeParse(object);
  if (result.success) return result.data;
  const name = named.safeParse(object);
  const [issue] = result.error.issues;
  const field = issue?.path.join('.') ?? '';
  throw new Error(
    `${kind} ${name.success ? name.data.metadata.name : '(without a name)'}: ${field}: ${issue?.message ?? 'unreadable'}`,
  );
}

/** Reads a list of the API server, with the resourceVersion to watch from, and the token of the next page if there is one. */
export function parseList<S extends z.ZodType>(
  kind: string,
  schema: S,
  list: unknown,
): { items: z.output<S>[]; resourceVersion: string; continueToken: string | undefined } {
  const { metadata, items } = parseObject(`list of ${kind}`, listSchema, list);
  const continueToken = metadata.continue ?? metadata._continue;
  return {
    items: items.map((item) => parseObject(kind, schema, item)),
    resourceVersion: metadata.resourceVersion,
    continueToken: continueToken === '' ? undefined : continueToken,
  };
}
