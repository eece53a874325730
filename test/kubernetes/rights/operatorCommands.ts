import { virtualMachineName } from '../../../karpenter/replacement.js';
import { runDriftless } from '../../unit/driftlessProcess.js';

type Run = (...args: readonly string[]) => Promise<void>;

/**
 * Runs every command of a person's that needs the cluster, while nothing can start.
 * @param nodeClaims of each NodePool, by name
 * @throws Error with what a command has said when it fails
 */
export async function askEverything(
  environment: NodeJS.ProcessEnv,
  nodeClaims: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const run: Run = async (...args) => {
    const { exitCode, stderr } = await runDriftless(args, environment);
    if (exitCode !== 0) throw new Error(`driftless ${args.join(' ')} ended with ${String(exitCode)}: ${stderr}`);
  };
  const pools = [...nodeClaims].map(([nodePool, [nodeClaim = '']]) => ({ nodePool, nodeClaim }));
  const [first] = pools;
  if (first === undefined) throw new Error('there is no NodePool');
  await Promise.all([
    ...pools.map(({ nodePool, nodeClaim }) => askAboutPool(run, nodePool, nodeClaim)),
    steer(run, first.nodePool, first.nodeClaim),
  ]);
}

async function askAboutPool(run: Run, nodePool: string, nodeClaim: string): Promise<void> {
  await run('plan', nodePool, '--max-disrupted-nodes', '100');
  await run('budget', nodePool);
  await run('why', nodeClaim);
  await run('why', virtualMachineName(nodeClaim));
  await run('replace', nodeClaim, '--reason', 'a rehearsal');
  await run('replace', nodeClaim, '--undo');
}

async function steer(run: Run, nodePool: string, nodeClaim: string): Promise<void> {
  const why = ['--why', 'a rehearsal', '--by', 'operator'];
  await run('status');
  await run('pause', nodePool, ...why);
  await run('resume', nodePool, ...why);
  await run('skip', nodePool, nodeClaim, '--for', '1h', ...why);
  await run('retry', nodePool, nodeClaim);
  await run('cancel', nodePool, ...why);
}
