import type { Fields } from './objects.js';
import { isFields, without } from './objects.js';
import type { ResourceType } from './resources.js';

/** A Secret's `stringData` is write-only: the API server encodes it into `data`, where it wins over what is there. */
export function withStringData(type: ResourceType, content: Fields): Fields {
  const { stringData, data } = content;
  if (type.kind !== 'Secret' || !isFields(stringData)) return content;
  const encoded = Object.entries(stringData).map(([key, value]) => [
    key,
    Buffer.from(String(value), 'utf8').toString('base64'),
  ]);
  return {
    ...without(content, 'stringData'),
    data: { ...(isFields(data) ? data : {}), ...Object.fromEntries(encoded) },
  };
}
