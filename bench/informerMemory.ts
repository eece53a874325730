import { z } from 'zod';

/** What the process of an informer says of itself after a garbage collection. */
export const informerMemorySchema = z.object({ heapBytes: z.number(), rssBytes: z.number(), sockets: z.number() });
export type InformerMemory = z.infer<typeof informerMemorySchema>;
