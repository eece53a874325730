import type { z } from 'zod';

import type { KubernetesApi } from './kubernetesApi.js';
import { parseList } from './parse.js';
import { request } from './request.js';

/** As client-go has it: 50,000 pods in one answer would take longer than a request may, and gigabytes while they are read. */
const pageSize = 500;

/** What a list request says of the page that it wants; in client-node's spelling. */
export interface PageQuery {
  readonly limit: number;
  readonly _continue?: string;
}

interface WholeList<T> {
  readonly items: readonly T[];
  /** From where to watch: that of all pages. */
  readonly resourceVersion: string;
}

/**
 * Makes the function that lists a whole collection, page by page.
 * @param kind for errors, e.g. `Pod`
 * @param fetchPage makes one request
 */
export function pagedList<S extends z.ZodType>(
  kind: string,
  schema: S,
  fetchPage: (api: KubernetesApi, page: PageQuery) => Promise<unknown>,
): (api: KubernetesApi) => Promise<WholeList<z.output<S>>> {
  return async (api) => {
    const items: z.output<S>[] = [];
    let query: PageQuery = { limit: pageSize };
    for (;;) {
      const page = parseList(kind, schema, await request(`list all of kind ${kind}`, () => fetchPage(api, query)));
      for (const item of page.items) items.push(item);
      if (page.continueToken === undefined) return { items, resourceVersion: page.resourceVersion };
      query = { limit: pageSize, _continue: page.continueToken };
    }
  };
}
