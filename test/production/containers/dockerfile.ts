import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';

const run = promisify(execFile);

/** The instructions that the images are made of; another one fails here, so that nothing is left out unseen. */
const instructionSchema = z.discriminatedUnion('Name', [
  z.object({ Name: z.literal('WORKDIR'), Value: z.object({ Path: z.string() }) }),
  z.object({
    Name: z.literal('COPY'),
    Value: z.object({ SourcePaths: z.array(z.string()), DestPath: z.string(), From: z.string() }),
  }),
  z.object({
    Name: z.literal('RUN'),
    Value: z.object({ CmdLine: z.array(z.string()), PrependShell: z.literal(true) }),
  }),
  z.object({
    Name: z.literal('ENV'),
    Value: z.object({ Env: z.array(z.object({ Key: z.string(), Value: z.string() })) }),
  }),
  z.object({ Name: z.literal('USER'), Value: z.object({ User: z.string() }) }),
  z.object({
    Name: z.literal('ENTRYPOINT'),
    Value: z.object({ CmdLine: z.array(z.string()), PrependShell: z.literal(false) }),
  }),
]);

const stageSchema = z.object({ Name: z.string(), Base: z.string(), Commands: z.array(instructionSchema) });

export type Instruction = z.infer<typeof instructionSchema>;
export type Stage = z.infer<typeof stageSchema>;

/** Reads the stages of a Dockerfile with Docker's own parser. */
export async function readDockerfile(dockerBin: string, path: string): Promise<readonly Stage[]> {
  const { stdout } = await run(`${dockerBin}/dockerfile`, [path]);
  return z.array(stageSchema).parse(JSON.parse(stdout));
}

/** The version of Node.js that the stages build on, e.g. `24.20.0`. */
export function nodeVersion(stages: readonly Stage[]): string {
  const versions = stages.flatMap(({ Base }) => /^node:(\d+\.\d+\.\d+)-/.exec(Base)?.[1] ?? []);
  const [version] = versions;
  if (version === undefined || versions.length > 1) throw new Error('the Dockerfile must name one node image');
  return version;
}
