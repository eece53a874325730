import { mediaType } from './requestBody.js';
import type { ResourceType } from './resources.js';
import { notImplemented, unsupportedMediaType } from './statusErrors.js';

export type PatchType = 'json' | 'merge' | 'strategic';

const jsonPatchType = 'application/json-patch+json';
const mergePatchType = 'application/merge-patch+json';
const strategicPatchType = 'application/strategic-merge-patch+json';
const applyPatchType = 'application/apply-patch+yaml';

/** @throws ApiError 415 for a patch type that the resource does not have, 501 for one that only a real API server has */
export function patchTypeOf(type: ResourceType, contentType: string | undefined): PatchType {
  const given = mediaType(contentType);
  const strategic = type.custom ? [] : [strategicPatchType];
  if (given === jsonPatchType) return 'json';
  if (given === mergePatchType) return 'merge';
  if (strategic.includes(given)) return 'strategic';
  if (given === applyPatchType) throw notImplemented(`patches of type ${given}`);
  throw unsupportedMediaType([jsonPatchType, mergePatchType, ...strategic, applyPatchType]);
}
