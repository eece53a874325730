import { request as httpsRequest } from 'node:https';
import { createInterface } from 'node:readline';
import { z } from 'zod';

import type { Access } from '../../../demo/controlPlane/access.js';

const lineSchema = z.object({
  type: z.enum(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']),
  object: z.looseObject({}),
});
export type WatchLine = z.infer<typeof lineSchema>;

/** An open watch, read as it comes over the wire. */
export interface WatchLines {
  /** The next line; rejects when the server ends the watch instead. */
  next(): Promise<WatchLine>;
  /** All lines until the server ends the watch. */
  rest(): Promise<readonly WatchLine[]>;
  close(): void;
}

/** Opens a watch; settles when the server has accepted it. */
export function watch(access: Access, path: string, accept = 'application/json'): Promise<WatchLines> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${access.token}`, Accept: accept };
    const outgoing = httpsRequest(access.endpoint + path, { ca: access.caPem, agent: false, headers }, (response) => {
      if (response.statusCode !== 200) {
        response.destroy();
        reject(new Error(`watch of ${path} was answered with HTTP ${String(response.statusCode)}`));
        return;
      }
      const lines = createInterface({ input: response })[Symbol.asyncIterator]();
      const next = async (): Promise<WatchLine> => {
        const line = await lines.next();
        if (line.done === true) throw new Error(`the watch of ${path} has ended`);
        return lineSchema.parse(JSON.parse(line.value));
      };
      const rest = async (): Promise<readonly WatchLine[]> => {
        const all: WatchLine[] = [];
        for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
          all.push(lineSchema.parse(JSON.parse(line.value)));
        }
        return all;
      };
      resolve({
        next,
        rest,
        close() {
          outgoing.destroy();
        },
      });
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}
