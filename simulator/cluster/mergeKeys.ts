/**
 * The lists that a strategic merge patch merges by one field of their items, as Kubernetes' API types are tagged
 * (`patchStrategy:"merge"`, `patchMergeKey`), by the struct of the client library that holds the list. Those of pods' volumes, ports and
 * the like are here because workloads carry them.
 */
const mergeKeys: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  V1ObjectMeta: { ownerReferences: 'uid' },
  V1NodeStatus: { conditions: 'type', addresses: 'type' },
  V1PodStatus: { conditions: 'type', podIPs: 'ip', hostIPs: 'ip', resourceClaimStatuses: 'name' },
  V1PodSpec: {
    containers: 'name',
    initContainers: 'name',
    ephemeralContainers: 'name',
    volumes: 'name',
    imagePullSecrets: 'name',
    hostAliases: 'ip',
    topologySpreadConstraints: 'topologyKey',
    schedulingGates: 'name',
    resourceClaims: 'name',
  },
  V1Container: { env: 'name', ports: 'containerPort', volumeMounts: 'mountPath', volumeDevices: 'devicePath' },
  V1EphemeralContainer: { env: 'name', ports: 'containerPort', volumeMounts: 'mountPath', volumeDevices: 'devicePath' },
  V1NamespaceStatus: { conditions: 'type' },
  V1DeploymentStatus: { conditions: 'type' },
  V1ReplicaSetStatus: { conditions: 'type' },
  V1DaemonSetStatus: { conditions: 'type' },
  V1StatefulSetStatus: { conditions: 'type' },
  V1PodDisruptionBudgetStatus: { conditions: 'type' },
  V1PersistentVolumeClaimStatus: { conditions: 'type' },
  V1ServiceAccount: { secrets: 'name', imagePullSecrets: 'name' },
};

/** Lists of texts that are merged as sets. */
const mergedTexts: Readonly<Record<string, readonly string[]>> = {
  V1ObjectMeta: ['finalizers'],
  V1NodeSpec: ['podCIDRs'],
};

/** The field by which the items of a list are told apart; `set` for a list of texts; undefined for one that is replaced as a whole. */
export function mergeKeyOf(struct: string, field: string): string | undefined {
  const key = mergeKeys[struct]?.[field];
  if (key !== undefined) return key;
  return mergedTexts[struct]?.includes(field) === true ? 'set' : undefined;
}
