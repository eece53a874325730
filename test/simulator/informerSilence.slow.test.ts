import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { Informer } from '../../activities/kubernetes/informer.js';
import { nodeCollection } from '../../activities/kubernetes/nodes.js';
import type { Node } from '../../karpenter/api.js';
import { createLog } from '../../runtime/log.js';
import { eventually } from '../support/eventually.js';
import type { TestCluster } from './clusterFixture.js';
import { startCluster } from './clusterFixture.js';

/** The promise of docs/reliability.md. */
const withinMs = 60_000;

let cluster: TestCluster;
let informer: Informer<Node>;

beforeEach(async () => {
  cluster = await startCluster();
  informer = new Informer(cluster.api, nodeCollection, { retryDelayMs: 1_000, log: createLog('test', 'silent') });
  await informer.synced;
});

afterEach(async () => {
  await informer.stop();
  await cluster.simulator.close();
});

describe('an informer as the services have it', () => {
  it(
    'finds out within a minute that its watch died without a word',
    async () => {
      await eventually(() => {
        expect(cluster.simulator.audit.entries.at(-1)?.verb).toBe('watch');
      });
      cluster.simulator.addFault({ verb: 'watch', then: { kind: 'silence' } });
      await cluster.api.core.createNode({ body: { metadata: { name: 'unheard' } } });
      expect(informer.get('unheard')).toBeUndefined();
      await eventually(() => {
        expect(informer.get('unheard')).toBeDefined();
      }, withinMs);
      expect(cluster.simulator.audit.entries.filter(({ verb }) => verb === 'list')).toHaveLength(1);
    },
    2 * withinMs,
  );
});
