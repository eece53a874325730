import { mediaType } from './requestBody.js';
import type { ResourceType } from './resources.js';
import { notImplemented, unsupportedMediaType } from './statusErrors.js';

const jsonPatchType = 'application/json-patch+json';
const mergePatchType = 'application/merge-patch+json';
const strategicPatchType = 'application/strategic-merge-patch+json';
const applyPatchType = 'application/apply-patch+yaml';

/** @throws ApiError 415 for a patch type that the resource does not have, 501 for one that only a real API server has */
export function patchTypeOf(type: ResourceType, contentType: string | undefined): 'json' | 'merge' {
  const given = mediaType(contentType);
  const strategic = type.custom ? [] : [strategicPatchType];
  if (given === jsonPatchType) return 'json';
  if (given === mergePatchType) return 'merge';
  if (given === applyPatchType || strategic.includes(given)) throw notImplemented(`patches of type ${given}`);
  throw unsupportedMediaType([jsonPatchType, mergePatchType, ...strategic, applyPatchType]);
}
