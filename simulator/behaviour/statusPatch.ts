/**
 * A merge patch of the status, refused by the API server (409) when somebody else has written since the object was read: lists
 * in a merge patch replace what stands there.
 */
export function statusPatch(
  read: { readonly metadata: { readonly resourceVersion?: string } },
  status: object,
): { readonly metadata: { readonly resourceVersion: string | undefined }; readonly status: object } {
  return { metadata: { resourceVersion: read.metadata.resourceVersion }, status };
}

/** Now, as Kubernetes writes it: RFC 3339 in whole seconds. */
export function timestampNow(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
