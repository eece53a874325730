import { describe, expect, it } from '@jest/globals';

import { goOnWaiting } from '../support/fakeActivities.js';
import { Gate } from '../support/gate.js';
import { startReplacement } from '../support/replacements.js';
import { startTestWorker } from '../support/testWorker.js';

describe('replaceNode, when its worker is stopped', () => {
  it('r093: has the next worker go on with the poll: nothing has failed, nothing is removed', async () => {
    // The workflow's task is not kept for the worker that goes.
    const first = await startTestWorker({ stickyQueueScheduleToStartTimeout: 100 });
    const before = first.fakesOf('stopped');
    before.does.pollLaunch = () => new Gate().opened;
    before.does.initialize = goOnWaiting;
    const handle = await startReplacement(first.workflows, first.cluster, 'stopped', 'old-1', { waitIntervalMs: 50 });
    await before.called('pollLaunch');
    await first.stop();
    const second = await startTestWorker({}, first.cluster);
    const after = second.fakesOf('stopped');
    const polled = new Gate();
    after.does.initialize = () => polled.opened;
    after.does.pollLaunch = () => {
      polled.open();
      return Promise.resolve();
    };

    const result: unknown = await second.workflows.getHandle(handle.workflowId).result();
    expect(result).toMatchObject({ kind: 'replaced', replacement: 'old-1-r0-0', launchFailures: [] });
    expect(before.callsOf('createReplacement')).toHaveLength(1);
    expect(after.callsOf('pollLaunch')[0]?.args[1]).toMatchObject({ resumeToken: 'create-old-1-r0-0' });
    expect([...before.names, ...after.names]).not.toContain('beginRemoval');
    expect(after.names).not.toContain('createReplacement');
    await second.stop();
  }, 60_000);
});
