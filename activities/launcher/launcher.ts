import type { ArmWriteActivities, ReplacementActivities } from '../../workflows/activityInterfaces.js';

/** One way to get a node and to be rid of one: what differs between creating VMs and letting Karpenter create them. */
export type Launcher = Pick<ReplacementActivities, 'pollLaunch' | 'initialize' | 'followDeletion'> & ArmWriteActivities;
