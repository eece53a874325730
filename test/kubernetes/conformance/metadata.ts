import { z } from 'zod';

const schema = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    generation: z.number().optional(),
    deletionTimestamp: z.string().optional(),
    deletionGracePeriodSeconds: z.number().optional(),
    finalizers: z.array(z.string()).optional(),
  }),
});

/** The metadata of an object in an answer. */
export function metadataOf(body: unknown): z.infer<typeof schema>['metadata'] {
  return schema.parse(body).metadata;
}
