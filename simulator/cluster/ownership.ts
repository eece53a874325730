import { z } from 'zod';

import type { KubernetesObject } from './objects.js';

/** Keeps an object until what it owns is gone. */
export const foregroundFinalizer = 'foregroundDeletion';
/** Keeps an object until what it owns no longer refers to it. */
export const orphanFinalizer = 'orphan';

const ownerSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  uid: z.string(),
  blockOwnerDeletion: z.boolean().optional(),
});
export type OwnerReference = z.infer<typeof ownerSchema>;

/** The owners that an object names; what is no whole reference counts for nothing. */
export function ownersOf({ metadata }: KubernetesObject): readonly OwnerReference[] {
  return (metadata.ownerReferences ?? []).flatMap((reference) => {
    const owner = ownerSchema.safeParse(reference);
    return owner.success ? [owner.data] : [];
  });
}

/** The finalizers of an object that is being deleted by that policy. */
export function deletionFinalizers(
  finalizers: readonly string[],
  policy: 'Foreground' | 'Background' | 'Orphan',
): readonly string[] {
  const others = finalizers.filter((each) => each !== foregroundFinalizer && each !== orphanFinalizer);
  switch (policy) {
    case 'Foreground':
      return [...others, foregroundFinalizer];
    case 'Orphan':
      return [...others, orphanFinalizer];
    case 'Background':
      return others;
  }
}
