import type { VirtualMachines } from '../../azure/virtualMachines.js';
import type { ActivityEnvironment } from '../../environment.js';

/** What the arm launcher works with: Driftless itself is the cloud provider. */
export interface ArmEnvironment extends ActivityEnvironment {
  readonly virtualMachines: VirtualMachines;
  /** The Secret with the VM's template and bootstrap: `template.json` and `bootstrap`. */
  readonly templateSecret: { readonly namespace: string; readonly name: string };
}
