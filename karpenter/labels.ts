/** Labels, annotations, taints and finalizers, by the names that Karpenter, Kubernetes and Driftless give them. */

export const nodePoolLabel = 'karpenter.sh/nodepool';
export const capacityTypeLabel = 'karpenter.sh/capacity-type';
export const registeredLabel = 'karpenter.sh/registered';
export const initializedLabel = 'karpenter.sh/initialized';
export const instanceTypeLabel = 'node.kubernetes.io/instance-type';
export const zoneLabel = 'topology.kubernetes.io/zone';
export const regionLabel = 'topology.kubernetes.io/region';
export const archLabel = 'kubernetes.io/arch';
export const osLabel = 'kubernetes.io/os';
export const hostnameLabel = 'kubernetes.io/hostname';

export const doNotDisruptAnnotation = 'karpenter.sh/do-not-disrupt';
export const nodePoolHashAnnotation = 'karpenter.sh/nodepool-hash';
export const nodePoolHashVersionAnnotation = 'karpenter.sh/nodepool-hash-version';

/** On a NodeClaim whose node is drained under a terminationGracePeriod: when its last pods are deleted, RFC 3339. */
export const terminationTimestampAnnotation = 'karpenter.sh/nodeclaim-termination-timestamp';

export const terminationFinalizer = 'karpenter.sh/termination';

/** Kubelets register with it; registration takes it off. Effect NoExecute. */
export const unregisteredTaint = 'karpenter.sh/unregistered';
/** On a node that is being replaced. Effect NoSchedule. */
export const disruptedTaint = 'karpenter.sh/disrupted';
/** On a replacement from its birth until the drain of the old node begins, so that nobody else takes the room. Effect NoSchedule. */
export const replacementTaint = 'driftless.dev/replacement';

/** On a node that waits for its replacement: pods rather go elsewhere, so that they move once. Effect PreferNoSchedule. */
export const waitingTaint = 'driftless.dev/waiting';

/** On a NodeClaim: replace it, whatever its conditions say; the value is the reason in words. Exactly `false` means no. */
export const replaceAnnotation = 'driftless.dev/replace';
/** On a NodePool: further condition types of its NodeClaims that ask for a replacement, separated by commas. */
export const disruptionConditionsAnnotation = 'driftless.dev/disruption-conditions';
/** Set to `true` by the owner of a NodePool: Driftless may replace its nodes. */
export const managedAnnotation = 'driftless.dev/managed';
/** Our mark: the id of the Temporal namespace whose workflow wrote the object. */
export const ownerAnnotation = 'driftless.dev/owner';
/** On a replacement NodeClaim: the UID of the NodeClaim that it replaces. */
export const replacesAnnotation = 'driftless.dev/replaces';
/** On a replacement NodeClaim: which launch it is, `<round>/<attempt>`. */
export const launchAnnotation = 'driftless.dev/launch';
/** On whatever a replacement touches: the id of its workflow. */
export const workflowAnnotation = 'driftless.dev/workflow';
