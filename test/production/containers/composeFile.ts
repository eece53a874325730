import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';

const run = promisify(execFile);

const strings = z
  .array(z.string())
  .nullish()
  .transform((value) => value ?? []);

const mountSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('bind'),
    source: z.string(),
    target: z.string(),
    read_only: z.boolean().default(false),
    bind: z.object({ create_host_path: z.union([z.boolean(), z.string()]).optional() }).optional(),
  }),
  z.object({
    type: z.literal('volume'),
    source: z.string(),
    target: z.string(),
    read_only: z.boolean().default(false),
  }),
]);

/** What the containers imitate of a service, and what they can do without; a key that is neither fails here. */
const serviceSchema = z.strictObject({
  image: z.string(),
  build: z.object({ target: z.string() }).optional(),
  command: strings,
  entrypoint: strings,
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(mountSchema).default([]),
  tmpfs: strings,
  read_only: z.boolean().default(false),
  user: z.string().optional(),
  cap_drop: strings,
  security_opt: strings,
  stop_grace_period: z.string().optional(),
  depends_on: z
    .record(
      z.string(),
      z.object({
        condition: z.enum(['service_started', 'service_healthy', 'service_completed_successfully']),
        required: z.literal(true),
      }),
    )
    .default({}),
  healthcheck: z
    .object({ test: z.array(z.string()), interval: z.string(), timeout: z.string(), retries: z.number() })
    .optional(),
  // Compose's own business: which services there are, their restarts, networks and published ports; env_file is read already.
  profiles: strings,
  env_file: z.unknown().optional(),
  restart: z.string().optional(),
  networks: z.unknown().optional(),
  ports: z.array(z.object({ host_ip: z.string(), published: z.string(), target: z.number() })).default([]),
});

const projectSchema = z.object({ services: z.record(z.string(), serviceSchema) });

export type Service = z.infer<typeof serviceSchema>;
export type Project = z.infer<typeof projectSchema>;

/** What is read, and with what environment. */
export interface ComposeFile {
  readonly folder: string;
  readonly profiles: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Reads the compose file as docker compose does: schema, interpolation, profiles.
 * @throws Error with what docker compose would say
 */
export async function readComposeFile(dockerBin: string, file: ComposeFile): Promise<Project> {
  const { stdout } = await run(
    `${dockerBin}/compose`,
    ['-profiles', file.profiles.join(','), `${file.folder}/docker-compose.yml`],
    { cwd: file.folder, env: { ...file.environment } },
  );
  return projectSchema.parse(JSON.parse(stdout));
}
