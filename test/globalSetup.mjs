import { findTemporalCli } from '../dist/demo/temporalCli.js';
import { startTemporalServer } from '../dist/demo/temporalServer.js';

/** One dev server for all test files; each works with a cluster id, and so with task queues and workflow ids, of its own. */
export default async function globalSetup() {
  const server = await startTemporalServer(
    await findTemporalCli(process.env, (text) => {
      console.error(text);
    }),
  );
  globalThis.temporalServer = server;
  process.env.TEMPORAL_ADDRESS = server.address;
  process.env.TEMPORAL_NAMESPACE = server.settings.namespace;
}
