import { archLabel, instanceTypeLabel, osLabel, regionLabel } from './labels.js';

/** A VM size that Azure offers to the subscription in one location, in Karpenter's word for it. */
export interface InstanceType {
  /** e.g. `Standard_D2as_v5` */
  readonly name: string;
  /** Azure's quota family, e.g. `standardDASv5Family`. */
  readonly quotaFamily: string;
  readonly location: string;
  /** Where it can be had, in Kubernetes' words, e.g. `westus2-1`; none where it is not zonal. */
  readonly zones: readonly string[];
  readonly vCpus: number;
  readonly memoryMib: number;
  /** Kubernetes' word, e.g. `amd64`. */
  readonly architecture: string;
  readonly gpus: number;
  readonly hasPremiumStorage: boolean;
  readonly hasAcceleratedNetworking: boolean;
  /** Boots images of generation 2. */
  readonly isGeneration2: boolean;
  readonly isSpotCapable: boolean;
}

/** What the name of a VM size says: `Standard_<family><vCPUs>[-<constrained>]<features>[_<accelerator>][_v<version>]`. */
interface VmSizeName {
  /** The first letters, e.g. `D`, `NC`. */
  readonly series: string;
  readonly isConstrained: boolean;
  readonly version: string;
}

function parseName(name: string): VmSizeName | undefined {
  const [, series, constrained, version] =
    /^[A-Za-z]+_([A-Z]+)\d+(-\d+)?[a-z]*(?:_[A-Z][A-Za-z0-9]*)*(?:_v(\d+))?$/.exec(name) ?? [];
  if (series === undefined) return undefined;
  return { series, isConstrained: constrained !== undefined, version: version ?? '1' };
}

/** The domains of labels whose values come from the VM size: NodePool requirements on others are met by the label itself. */
export function isAzureLabel(key: string): boolean {
  return key.startsWith('karpenter.azure.com/') || key.startsWith('kubernetes.azure.com/');
}

/** The labels that a VM size gives its nodes, derived as Karpenter's Azure provider does it (pkg/providers/instancetype). */
export function instanceTypeLabels(instanceType: InstanceType): Readonly<Record<string, string>> {
  const parsed = parseName(instanceType.name);
  const cpu = String(instanceType.vCpus);
  const memory = String(instanceType.memoryMib);
  return {
    [instanceTypeLabel]: instanceType.name,
    [archLabel]: instanceType.architecture,
    [osLabel]: 'linux',
    [regionLabel]: instanceType.location,
    'karpenter.azure.com/sku-name': instanceType.name,
    'karpenter.azure.com/sku-cpu': cpu,
    'karpenter.azure.com/sku-memory': memory,
    'karpenter.azure.com/sku-gpu-count': String(instanceType.gpus),
    'karpenter.azure.com/sku-storage-premium-capable': String(instanceType.hasPremiumStorage),
    'karpenter.azure.com/sku-networking-accelerated': String(instanceType.hasAcceleratedNetworking),
    'kubernetes.azure.com/sku-cpu': cpu,
    'kubernetes.azure.com/sku-memory': memory,
    ...(parsed === undefined
      ? {}
      : {
          'karpenter.azure.com/sku-family': parsed.series.slice(0, 1),
          'karpenter.azure.com/sku-version': parsed.version,
        }),
  };
}

const leastVCpus = 2;
const leastMemoryMib = 3.5 * 1024;

/**
 * Whether pods may be moved to a VM size that their pool has not run on before. AKS wants 2 vCPUs and 3.5 GiB; GPUs, confidential
 * computing (DC, EC) and constrained vCPUs are chosen on purpose only; the image asks for generation 2, the OS disk for premium storage.
 */
export function isGeneralPurpose(instanceType: InstanceType): boolean {
  const parsed = parseName(instanceType.name);
  const isSpecial = parsed === undefined || parsed.isConstrained || ['DC', 'EC'].includes(parsed.series);
  const isLargeEnough = instanceType.vCpus >= leastVCpus && instanceType.memoryMib >= leastMemoryMib;
  const isOrdinary = instanceType.isGeneration2 && instanceType.hasPremiumStorage && instanceType.gpus === 0;
  return isLargeEnough && isOrdinary && !isSpecial;
}
