import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import type { Mount } from './container.js';
import { runContained } from './container.js';
import type { Instruction, Stage } from './dockerfile.js';

/** What a container of an image starts with. */
export interface Image {
  /** The files that the image adds to its distribution. */
  readonly root: string;
  readonly mounts: readonly Mount[];
  /** Folders in the container that come first on its PATH. */
  readonly path: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingFolder: string;
  readonly user: number;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
}

export interface BuildOptions {
  readonly stages: readonly Stage[];
  /** The folder of the Dockerfile and of .dockerignore. */
  readonly context: string;
  /** Where each stage gets a folder. */
  readonly folder: string;
  /** The Node.js of the base image. */
  readonly node: string;
  /** npm's own cache, so that nothing is downloaded twice. */
  readonly npmCache: string;
  readonly tell: (text: string) => void;
}

const nodeFolder = '/opt/node';
const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin';

/** PATH as a process in the container has it. */
export function pathOf({ path }: Pick<Image, 'path'>): string {
  return [...path, systemPath].join(':');
}

/** The names that .dockerignore lets through: it ignores everything, then names exceptions. */
function namesInContext(context: string): ReadonlySet<string> {
  const lines = readFileSync(join(context, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [first, ...exceptions] = lines;
  if (first !== '*' || exceptions.some((line) => !/^![\w.-]+$/.test(line))) {
    throw new Error('.dockerignore must be * and exceptions by name');
  }
  return new Set(exceptions.map((line) => line.slice(1)));
}

/** Does what the Dockerfile's instructions say, without a container engine: the files go to a folder for each stage. */
export class ImageBuilder {
  readonly #built = new Map<string, Promise<Image>>();
  readonly #names: ReadonlySet<string>;

  constructor(private readonly options: BuildOptions) {
    this.#names = namesInContext(options.context);
  }

  /** The image of a stage; what it needs of other stages is built first, each once. */
  build(name: string): Promise<Image> {
    const known = this.#built.get(name);
    if (known !== undefined) return known;
    const building = this.#build(name);
    this.#built.set(name, building);
    return building;
  }

  async #build(name: string): Promise<Image> {
    const stage = this.options.stages.find(({ Name }) => Name === name);
    if (stage === undefined) throw new Error(`the Dockerfile has no stage ${name}`);
    let image = await this.#startOf(stage);
    for (const instruction of stage.Commands) image = await this.#follow(image, instruction);
    return image;
  }

  async #startOf({ Name, Base }: Stage): Promise<Image> {
    const root = join(this.options.folder, Name);
    mkdirSync(root, { recursive: true });
    if (Base.startsWith('node:')) {
      const mounts = [{ source: this.options.node, target: nodeFolder, readOnly: true }];
      const path = [`${nodeFolder}/bin`];
      return { root, mounts, path, environment: {}, workingFolder: '/', user: 0, entrypoint: [], command: [] };
    }
    const base = await this.build(Base);
    cpSync(base.root, root, { recursive: true, verbatimSymlinks: true });
    return { ...base, root };
  }

  async #follow(image: Image, instruction: Instruction): Promise<Image> {
    switch (instruction.Name) {
      case 'WORKDIR':
        mkdirSync(join(image.root, instruction.Value.Path), { recursive: true });
        return { ...image, workingFolder: instruction.Value.Path };
      case 'COPY':
        await this.#copy(image, instruction.Value);
        return image;
      case 'RUN':
        await this.#run(image, instruction.Value.CmdLine.join(' '));
        return image;
      case 'ENV': {
        const added = Object.fromEntries(instruction.Value.Env.map(({ Key, Value }) => [Key, Value]));
        return { ...image, environment: { ...image.environment, ...added } };
      }
      case 'USER':
        return { ...image, user: Number(instruction.Value.User) };
      case 'ENTRYPOINT':
        return { ...image, entrypoint: instruction.Value.CmdLine };
    }
  }

  async #copy(
    image: Image,
    { SourcePaths, DestPath, From }: Extract<Instruction, { Name: 'COPY' }>['Value'],
  ): Promise<void> {
    const source = From === '' ? this.options.context : (await this.build(From)).root;
    const destination = join(image.root, resolve(image.workingFolder, DestPath));
    for (const path of SourcePaths) {
      if (From === '' && !this.#names.has(path)) throw new Error(`COPY ${path}: .dockerignore keeps it out`);
      const from = join(source, path);
      if (!existsSync(from)) throw new Error(`COPY ${path}: there is no such file`);
      cpSync(from, DestPath.endsWith('/') ? join(destination, path) : destination, {
        recursive: true,
        verbatimSymlinks: true,
      });
    }
  }

  async #run(image: Image, command: string): Promise<void> {
    this.options.tell(`RUN ${command}`);
    const npmCache = { source: this.options.npmCache, target: '/npm-cache', readOnly: false };
    const contained = await runContained(
      {
        hostname: 'build',
        root: image.root,
        isReadOnly: false,
        mounts: [...image.mounts, npmCache],
        tmpfs: [],
        environment: {
          ...image.environment,
          PATH: pathOf(image),
          HOME: '/tmp',
          npm_config_cache: npmCache.target,
          npm_config_prefer_offline: 'true',
        },
        workingFolder: image.workingFolder,
        user: 0,
      },
      ['sh', '-c', command],
    );
    const exitCode = await contained.exitCode;
    if (exitCode !== 0) throw new Error(`RUN ${command} ended with code ${exitCode}:\n${contained.output()}`);
  }
}
