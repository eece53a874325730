import type { VirtualMachine } from '@azure/arm-compute';
import { z } from 'zod';

import type { Taint } from '../../karpenter/api.js';
import type { Offering } from '../../karpenter/offering.js';

/**
 * What an operator supplies, since a running VM does not show it: the parts of the VM that no NodeClaim knows, and the bootstrap that
 * makes the VM join the cluster.
 */
export const virtualMachineTemplateSchema = z.strictObject({
  adminUsername: z.string().min(1),
  sshPublicKey: z.string().startsWith('ssh-'),
  subnetId: z.string().startsWith('/subscriptions/'),
  identityIds: z.array(z.string().startsWith('/subscriptions/')).default([]),
  osDiskSizeGb: z.number().int().positive().optional(),
  osDiskType: z.string().default('Premium_LRS'),
  tags: z.record(z.string(), z.string()).default({}),
});
export type VirtualMachineTemplate = z.infer<typeof virtualMachineTemplateSchema>;

export interface BootstrapValues {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
}

function taintText({ key, value, effect }: Taint): string {
  return value === undefined || value === '' ? `${key}:${effect}` : `${key}=${value}:${effect}`;
}

/** Fills `{{nodeLabels}}` and `{{nodeTaints}}` in, in the syntax of the kubelet's flags --node-labels and --register-with-taints. */
export function renderBootstrap(bootstrap: string, { labels, taints }: BootstrapValues): string {
  const labelText = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return bootstrap
    .replaceAll('{{nodeLabels}}', labelText.join(','))
    .replaceAll('{{nodeTaints}}', taints.map(taintText).join(','));
}

/** The number of the zone that Kubernetes calls `<location>-<number>`. */
function zonesOf(zone: string, location: string): string[] {
  return zone.startsWith(`${location}-`) ? [zone.slice(location.length + 1)] : [];
}

export interface ComposeInput {
  readonly name: string;
  readonly location: string;
  readonly offering: Offering;
  readonly imageId: string;
  readonly template: VirtualMachineTemplate;
  /** The rendered bootstrap, in plain text. */
  readonly bootstrap: string;
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * The body of one PUT that makes VM, NIC and OS disk together, all with the same name and deleted together, as Karpenter's Azure
 * provider names them.
 */
export function composeVirtualMachine(input: ComposeInput): VirtualMachine {
  const { name, location, offering, imageId, template, bootstrap, tags } = input;
  const isCommunityImage = imageId.toLowerCase().startsWith('/communitygalleries/');
  const isSpot = offering.capacityType === 'spot';
  return {
    location,
    zones: zonesOf(offering.zone, location),
    tags: { ...template.tags, ...tags },
    hardwareProfile: { vmSize: offering.instanceType },
    ...(template.identityIds.length === 0
      ? {}
      : {
          identity: {
            type: 'UserAssigned',
            userAssignedIdentities: Object.fromEntries(template.identityIds.map((id) => [id, {}])),
          },
        }),
    storageProfile: {
      imageReference: isCommunityImage ? { communityGalleryImageId: imageId } : { id: imageId },
      osDisk: {
        name,
        createOption: 'FromImage',
        deleteOption: 'Delete',
        managedDisk: { storageAccountType: template.osDiskType },
        ...(template.osDiskSizeGb === undefined ? {} : { diskSizeGB: template.osDiskSizeGb }),
      },
    },
    osProfile: {
      computerName: name,
      adminUsername: template.adminUsername,
      customData: Buffer.from(bootstrap, 'utf8').toString('base64'),
      linuxConfiguration: {
        disablePasswordAuthentication: true,
        ssh: {
          publicKeys: [
            { keyData: template.sshPublicKey, path: `/home/${template.adminUsername}/.ssh/authorized_keys` },
          ],
        },
      },
    },
    networkProfile: {
      networkApiVersion: '2022-11-01',
      networkInterfaceConfigurations: [
        {
          name,
          primary: true,
          deleteOption: 'Delete',
          ipConfigurations: [{ name: 'ipConfig1', primary: true, subnet: { id: template.subnetId } }],
        },
      ],
    },
    ...(isSpot ? { priority: 'Spot', evictionPolicy: 'Delete', billingProfile: { maxPrice: -1 } } : {}),
  };
}
