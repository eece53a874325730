import type { ResourceSku } from '@azure/arm-compute';
import { log } from '@temporalio/activity';

import type { InstanceType } from '../../karpenter/instanceType.js';
import { errorMessage } from '../../runtime/errors.js';
import type { ArmSettings } from './armClient.js';
import { ArmClient } from './armClient.js';

/** What a subscription is offered changes by the week. */
const usualCacheMs = 6 * 3_600_000;

interface Listed {
  readonly instanceTypes: readonly InstanceType[];
  readonly atMs: number;
}

/** The VM sizes that one location offers to the subscription, read from ARM and kept for some hours. */
export class ResourceSkus {
  readonly #arm: ArmClient;
  #listed: Listed | undefined;
  #listing: Promise<Listed> | undefined;

  /** @param cacheMs how long a list counts as new */
  constructor(
    private readonly settings: ArmSettings,
    private readonly cacheMs = usualCacheMs,
  ) {
    this.#arm = new ArmClient(settings);
  }

  /**
   * All of them; a list that cannot be renewed serves on.
   * @throws ArmError when ARM did not answer and nothing is known yet
   */
  async list(): Promise<readonly InstanceType[]> {
    const known = this.#listed;
    if (known !== undefined && Date.now() - known.atMs < this.cacheMs) return known.instanceTypes;
    try {
      this.#listing ??= this.#read();
      this.#listed = await this.#listing;
    } catch (error) {
      if (known === undefined) throw error;
      log.warn('the VM sizes could not be read anew', { error: errorMessage(error) });
    } finally {
      this.#listing = undefined;
    }
    return this.#listed?.instanceTypes ?? [];
  }

  async #read(): Promise<Listed> {
    const { location } = this.settings;
    const filter = `location eq '${location}'`;
    const instanceTypes = await this.#arm.call('list', `list the VM sizes of ${location}`, async (sdk, signal) => {
      const found: InstanceType[] = [];
      for await (const sku of sdk.resourceSkus.list({ filter, abortSignal: signal })) {
        const instanceType = parseSku(sku, location);
        if (instanceType !== undefined) found.push(instanceType);
      }
      return found;
    });
    return { instanceTypes, atMs: Date.now() };
  }
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', Arm64: 'arm64' };

function isHere(name: string | undefined, location: string): boolean {
  return name?.toLowerCase() === location.toLowerCase();
}

/** A VM size as ARM lists it; undefined for what is none, or is restricted in the whole location. */
export function parseSku(sku: ResourceSku, location: string): InstanceType | undefined {
  const { name, family, resourceType } = sku;
  if (resourceType !== 'virtualMachines' || name === undefined || isRestricted(sku, location)) return undefined;
  const capabilities = new Map((sku.capabilities ?? []).map((one) => [one.name, one.value]));
  const vCpus = Number(capabilities.get('vCPUs'));
  // ARM says GB and means GiB.
  const memoryMib = Number(capabilities.get('MemoryGB')) * 1024;
  if (!(vCpus > 0 && memoryMib > 0)) return undefined;
  const architecture = capabilities.get('CpuArchitectureType') ?? 'x64';
  return {
    name,
    quotaFamily: family ?? name,
    location,
    zones: zonesOf(sku, location).map((zone) => `${location}-${zone}`),
    vCpus,
    memoryMib: Math.floor(memoryMib),
    architecture: architectures[architecture] ?? architecture,
    gpus: Number(capabilities.get('GPUs') ?? 0),
    hasPremiumStorage: capabilities.get('PremiumIO') === 'True',
    hasAcceleratedNetworking: capabilities.get('AcceleratedNetworkingEnabled') === 'True',
    isGeneration2: capabilities.get('HyperVGenerations')?.split(',').includes('V2') ?? false,
    isSpotCapable: capabilities.get('LowPriorityCapable') === 'True',
  };
}

function isRestricted({ restrictions = [] }: ResourceSku, location: string): boolean {
  return restrictions.some(
    ({ type, values = [], restrictionInfo }) =>
      type === 'Location' && [...values, ...(restrictionInfo?.locations ?? [])].some((name) => isHere(name, location)),
  );
}

function zonesOf({ locationInfo = [], restrictions = [] }: ResourceSku, location: string): readonly string[] {
  const restricted = new Set(
    restrictions
      .filter(
        ({ type, restrictionInfo }) =>
          type === 'Zone' && (restrictionInfo?.locations?.some((name) => isHere(name, location)) ?? true),
      )
      .flatMap(({ restrictionInfo }) => restrictionInfo?.zones ?? []),
  );
  const zones = locationInfo.find((info) => isHere(info.location, location))?.zones ?? [];
  return zones.filter((zone) => !restricted.has(zone)).sort();
}
