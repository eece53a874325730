/** ARM compares names without regard to case. */
export function resourceKey(resourceGroup: string, name: string): string {
  return `${resourceGroup}/${name}`.toLowerCase();
}

/** The resources of one resource group, or all when none is given. */
export function inResourceGroup<T extends { readonly resourceGroup: string }>(
  resources: Iterable<T>,
  resourceGroup: string | undefined,
): readonly T[] {
  const wanted = resourceGroup?.toLowerCase();
  return [...resources].filter((resource) => wanted === undefined || resource.resourceGroup.toLowerCase() === wanted);
}
