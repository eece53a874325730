import { z } from 'zod';

import type { Pod } from './api.js';
import { requirementSchema } from './api.js';
import { zoneLabel } from './labels.js';

/** A core v1 PersistentVolumeClaim. */
export const persistentVolumeClaimSchema = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({ volumeName: z.string().optional() }),
});

/** A core v1 PersistentVolume. */
export const persistentVolumeSchema = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    nodeAffinity: z
      .object({
        required: z
          .object({
            nodeSelectorTerms: z.array(z.object({ matchExpressions: z.array(requirementSchema).optional() })),
          })
          .optional(),
      })
      .optional(),
  }),
});
export type PersistentVolume = z.infer<typeof persistentVolumeSchema>;

/** The Azure disk driver's own name for the zone. */
const zoneKeys: ReadonlySet<string> = new Set([zoneLabel, 'topology.disk.csi.azure.com/zone']);

/** A PersistentVolumeClaim by name. */
export interface ClaimName {
  readonly namespace: string;
  readonly name: string;
}

/** The claims that a pod mounts: its own, and those of its generic ephemeral volumes, which are named `<pod>-<volume>`. */
export function claimsOf({ metadata, spec }: Pod): readonly ClaimName[] {
  const { namespace } = metadata;
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [{ namespace, name: persistentVolumeClaim.claimName }];
    return ephemeral === undefined ? [] : [{ namespace, name: `${metadata.name}-${name}` }];
  });
}

/** The zones in which a volume can be attached, by its node affinity; undefined when it does not say. */
export function zonesOf({ spec }: PersistentVolume): readonly string[] | undefined {
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const zones = terms.map(({ matchExpressions = [] }) =>
    matchExpressions.find(({ key, operator }) => zoneKeys.has(key) && operator === 'In'),
  );
  // The terms are alternatives: one without a zone allows any.
  if (zones.length === 0 || zones.includes(undefined)) return undefined;
  return [...new Set(zones.flatMap((requirement) => requirement?.values ?? []))];
}

/** The zones in which all of the volumes can be attached; undefined when none of them minds. */
export function commonZones(volumes: readonly PersistentVolume[]): readonly string[] | undefined {
  return volumes.map(zonesOf).reduce((common, zones) => {
    if (common === undefined || zones === undefined) return common ?? zones;
    return common.filter((zone) => zones.includes(zone));
  }, undefined);
}
