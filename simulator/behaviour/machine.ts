import { z } from 'zod';

/** Wall-clock milliseconds since the epoch. */
const instant = z.union([z.number(), z.iso.datetime().transform((text) => Date.parse(text))]);

export const machineSchema = z.object({
  name: z.string(),
  resourceId: z.string(),
  vmId: z.string(),
  location: z.string(),
  zone: z.string().optional(),
  vmSize: z.string(),
  tags: z.record(z.string(), z.string()).optional(),
  /** Base64. */
  customData: z.string().optional(),
  /** When it started. */
  at: instant,
});
/** A virtual machine that runs. */
export type Machine = z.infer<typeof machineSchema>;

/** One line of the machine feed. */
export const machineFeedLineSchema = z.discriminatedUnion('type', [
  machineSchema.extend({ type: z.literal('started') }),
  z.object({ type: z.literal('stopped'), name: z.string(), vmId: z.string(), at: instant }),
]);

/** The Node's `spec.providerID` of a machine. */
export function providerIdOf(machine: Machine): string {
  return `azure://${machine.resourceId}`;
}

/** Azure compares resource ids without regard to case. */
export function isNodeOfMachine(node: { readonly spec?: { readonly providerID?: string } }, machine: Machine): boolean {
  return node.spec?.providerID?.toLowerCase() === providerIdOf(machine).toLowerCase();
}
