/** A size of virtual machine, as the simulated region offers it in zones 1 to 3. */
export interface VmSize {
  /** e.g. `Standard_D2s_v5` */
  readonly name: string;
  readonly vCpus: number;
  readonly memoryGiB: number;
  /** The quota family, e.g. `standardDSv5Family`. */
  readonly family: string;
  /** Listed, but not to be had by the subscription: in the whole region, or in zones of it. */
  readonly restriction?: { readonly kind: 'location' } | { readonly kind: 'zones'; readonly zones: readonly string[] };
}

/** The zones of the simulated region. */
export const zones = ['1', '2', '3'] as const;

/** Every size that the simulator knows. */
export const vmSizes: readonly VmSize[] = [
  { name: 'Standard_D2s_v5', vCpus: 2, memoryGiB: 8, family: 'standardDSv5Family' },
  { name: 'Standard_D2as_v5', vCpus: 2, memoryGiB: 8, family: 'standardDASv5Family' },
  { name: 'Standard_D2ls_v5', vCpus: 2, memoryGiB: 4, family: 'standardDLSv5Family' },
  { name: 'Standard_D4s_v5', vCpus: 4, memoryGiB: 16, family: 'standardDSv5Family' },
  { name: 'Standard_D4as_v5', vCpus: 4, memoryGiB: 16, family: 'standardDASv5Family' },
  { name: 'Standard_D8s_v5', vCpus: 8, memoryGiB: 32, family: 'standardDSv5Family' },
  { name: 'Standard_D8as_v5', vCpus: 8, memoryGiB: 32, family: 'standardDASv5Family' },
  { name: 'Standard_D16s_v5', vCpus: 16, memoryGiB: 64, family: 'standardDSv5Family' },
  { name: 'Standard_D16as_v5', vCpus: 16, memoryGiB: 64, family: 'standardDASv5Family' },
  { name: 'Standard_E2s_v5', vCpus: 2, memoryGiB: 16, family: 'standardESv5Family' },
  { name: 'Standard_E4s_v5', vCpus: 4, memoryGiB: 32, family: 'standardESv5Family' },
  { name: 'Standard_E8s_v5', vCpus: 8, memoryGiB: 64, family: 'standardESv5Family' },
  {
    name: 'Standard_E16s_v5',
    vCpus: 16,
    memoryGiB: 128,
    family: 'standardESv5Family',
    restriction: { kind: 'location' },
  },
  { name: 'Standard_F2s_v2', vCpus: 2, memoryGiB: 4, family: 'standardFSv2Family' },
  { name: 'Standard_F4s_v2', vCpus: 4, memoryGiB: 8, family: 'standardFSv2Family' },
  { name: 'Standard_F8s_v2', vCpus: 8, memoryGiB: 16, family: 'standardFSv2Family' },
  {
    name: 'Standard_F16s_v2',
    vCpus: 16,
    memoryGiB: 32,
    family: 'standardFSv2Family',
    restriction: { kind: 'zones', zones: ['3'] },
  },
];

/** Whether the subscription may not have that size there. */
export function isRestricted({ restriction }: VmSize, zone: string | undefined): boolean {
  switch (restriction?.kind) {
    case undefined:
      return false;
    case 'location':
      return true;
    case 'zones':
      return zone !== undefined && restriction.zones.includes(zone);
  }
}

/** The size of that name, whatever its case, if the simulator knows it. */
export function findVmSize(name: string): VmSize | undefined {
  const wanted = name.toLowerCase();
  return vmSizes.find((size) => size.name.toLowerCase() === wanted);
}
