import type { Context } from '@temporalio/activity';
import type {
  ActivityExecuteInput,
  ActivityInboundCallsInterceptor,
  ActivityInterceptors,
  ActivityInterceptorsFactory,
  Next,
} from '@temporalio/worker';

/** So often in one heartbeat timeout: one that comes late is not the end. */
const heartbeatsPerTimeout = 3;

/**
 * Tells Temporal, as long as an attempt goes on, that its worker lives: the attempt of one that was lost is given to another worker when
 * its heartbeat timeout is over, not only when the attempt should have ended. For activities that have such a timeout.
 */
class Heartbeats implements ActivityInboundCallsInterceptor {
  constructor(private readonly context: Context) {}

  async execute(input: ActivityExecuteInput, next: Next<ActivityInboundCallsInterceptor, 'execute'>): Promise<unknown> {
    const { info } = this.context;
    // The server says 0 where an activity has none.
    const timeoutMs = info.heartbeatTimeoutMs ?? 0;
    if (timeoutMs === 0) return await next(input);
    const timer = setInterval(() => {
      // What the attempt before this one has saved must outlast a heartbeat that has nothing to add.
      this.context.heartbeat(info.heartbeatDetails);
    }, timeoutMs / heartbeatsPerTimeout);
    try {
      return await next(input);
    } finally {
      clearInterval(timer);
    }
  }
}

/** For a worker's `interceptors.activity`. */
export const heartbeats: ActivityInterceptorsFactory = (context): ActivityInterceptors => ({
  inbound: new Heartbeats(context),
});
