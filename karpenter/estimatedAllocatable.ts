import type { InstanceType } from './instanceType.js';
import type { Resources } from './resources.js';

const mib = 2 ** 20;
/** What the VM itself keeps of its size's memory: the Azure provider's vm-memory-overhead-percent. */
const vmMemoryShare = 0.075;
/** The kubelet's hard eviction threshold for memory on AKS. */
const evictionThresholdMib = 750;
/** Where no node of the pool says how many pods its network allows: the least that AKS sets. */
const fewestPods = 30;

/** Up to that amount, beginning where the bracket before ends, that share is reserved. */
type Bracket = readonly [upTo: number, share: number];

const reservedMemoryGib: readonly Bracket[] = [
  [4, 0.25],
  [8, 0.2],
  [16, 0.1],
  [128, 0.06],
  [Infinity, 0.02],
];
const reservedVCpus: readonly Bracket[] = [
  [1, 0.06],
  [2, 0.04],
  [4, 0.02],
  [Infinity, 0.01],
];

function reserved(amount: number, brackets: readonly Bracket[]): number {
  let sum = 0;
  let from = 0;
  for (const [upTo, share] of brackets) {
    sum += Math.max(0, Math.min(amount, upTo) - from) * share;
    from = upTo;
  }
  return sum;
}

/**
 * What pods can have of a VM size that no node of the pool runs on, as Karpenter's Azure provider estimates it: less kube-reserved, the
 * eviction threshold and the VM's own overhead. Cautious: a real node has rather more. Number of pods and disk do not depend on the
 * size, but on the NodeClass: they are the old node's.
 */
export function estimateAllocatable(instanceType: InstanceType, ofOldNode: Resources): Resources {
  const { vCpus, memoryMib } = instanceType;
  const reservedMib = reserved(memoryMib / 1024, reservedMemoryGib) * 1024 + evictionThresholdMib;
  const disk = ofOldNode['ephemeral-storage'];
  return {
    cpu: vCpus - reserved(vCpus, reservedVCpus),
    memory: Math.max(0, memoryMib * (1 - vmMemoryShare) - reservedMib) * mib,
    pods: ofOldNode['pods'] ?? fewestPods,
    ...(disk === undefined ? {} : { 'ephemeral-storage': disk }),
  };
}
