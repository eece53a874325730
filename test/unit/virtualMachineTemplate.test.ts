import { describe, expect, it } from '@jest/globals';

import type { ComposeInput } from '../../activities/azure/virtualMachineTemplate.js';
import {
  composeVirtualMachine,
  renderBootstrap,
  virtualMachineTemplateSchema,
} from '../../activities/azure/virtualMachineTemplate.js';

const subnetId = '/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes';
const identityId =
  '/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/kubelet';
const least = { adminUsername: 'azureuser', sshPublicKey: 'ssh-ed25519 AAAA', subnetId };

describe('the operator’s template', () => {
  it('needs only who may log in and where the NIC goes', () => {
    expect(virtualMachineTemplateSchema.parse(least)).toEqual({
      ...least,
      identityIds: [],
      osDiskType: 'Premium_LRS',
      tags: {},
    });
  });

  it.each<[string, object]>([
    ['adminUsername', { ...least, adminUsername: '' }],
    ['sshPublicKey', { ...least, sshPublicKey: 'a password' }],
    ['subnetId', { ...least, subnetId: 'nodes' }],
    ['identityIds.0', { ...least, identityIds: ['kubelet'] }],
    ['osDiskSizeGb', { ...least, osDiskSizeGb: 0 }],
    ['tags.a', { ...least, tags: { a: 1 } }],
  ])('is refused for a wrong %s', (field, template) => {
    const { error } = virtualMachineTemplateSchema.safeParse(template);
    expect(error?.issues.map(({ path }) => path.join('.'))).toEqual([field]);
  });

  it('is refused for a field that would be ignored', () => {
    expect(virtualMachineTemplateSchema.safeParse({ ...least, osDiskSizeGB: 128 }).error?.issues[0]?.message).toMatch(
      /osDiskSizeGB/,
    );
  });
});

describe('the bootstrap', () => {
  it('carries labels and taints in the syntax of the kubelet’s flags, everywhere', () => {
    const text = 'kubelet --node-labels={{nodeLabels}} --register-with-taints={{nodeTaints}} # {{nodeLabels}}';
    const values = {
      labels: { 'karpenter.sh/nodepool': 'general-purpose', team: 'shop' },
      taints: [
        { key: 'karpenter.sh/unregistered', effect: 'NoExecute' },
        { key: 'dedicated', value: 'shop', effect: 'NoSchedule' },
        { key: 'empty', value: '', effect: 'NoSchedule' },
      ],
    };
    const labels = 'karpenter.sh/nodepool=general-purpose,team=shop';
    expect(renderBootstrap(text, values)).toBe(
      `kubelet --node-labels=${labels} --register-with-taints=karpenter.sh/unregistered:NoExecute,dedicated=shop:NoSchedule,empty:NoSchedule # ${labels}`,
    );
  });

  it('stays as it is where there is nothing to fill in', () => {
    expect(renderBootstrap('#!/bin/sh\n{{other}}', { labels: {}, taints: [] })).toBe('#!/bin/sh\n{{other}}');
  });
});

describe('the body of the VM’s PUT', () => {
  const input: ComposeInput = {
    name: 'aks-general-purpose-x',
    location: 'westus2',
    offering: { instanceType: 'Standard_D2as_v5', zone: 'westus2-1', capacityType: 'on-demand' },
    imageId: '/CommunityGalleries/aks/images/azurelinux/versions/1',
    template: virtualMachineTemplateSchema.parse({ ...least, tags: { cost: 'shop', who: 'template' } }),
    bootstrap: '#!/bin/sh\necho grüezi\n',
    tags: { who: 'driftless' },
  };

  it('makes VM, NIC and OS disk with one name, deleted together', () => {
    const { storageProfile, networkProfile, osProfile } = composeVirtualMachine(input);
    expect(osProfile?.computerName).toBe('aks-general-purpose-x');
    expect(storageProfile?.osDisk).toEqual({
      name: 'aks-general-purpose-x',
      createOption: 'FromImage',
      deleteOption: 'Delete',
      managedDisk: { storageAccountType: 'Premium_LRS' },
    });
    expect(networkProfile?.networkInterfaceConfigurations).toEqual([
      {
        name: 'aks-general-purpose-x',
        primary: true,
        deleteOption: 'Delete',
        ipConfigurations: [{ name: 'ipConfig1', primary: true, subnet: { id: subnetId } }],
      },
    ]);
  });

  it('asks for the offering, in Azure’s words', () => {
    const virtualMachine = composeVirtualMachine(input);
    expect(virtualMachine).toMatchObject({
      location: 'westus2',
      zones: ['1'],
      hardwareProfile: { vmSize: 'Standard_D2as_v5' },
    });
    expect(virtualMachine).not.toHaveProperty('priority');
    expect(virtualMachine).not.toHaveProperty('identity');
  });

  it('names no zone where the region has none', () => {
    const offering = { ...input.offering, zone: '0' };
    expect(composeVirtualMachine({ ...input, offering }).zones).toEqual([]);
  });

  it('is deleted at eviction and bounded by no price as a spot VM', () => {
    const offering = { ...input.offering, capacityType: 'spot' };
    expect(composeVirtualMachine({ ...input, offering })).toMatchObject({
      priority: 'Spot',
      evictionPolicy: 'Delete',
      billingProfile: { maxPrice: -1 },
    });
  });

  it('carries the bootstrap in base64 of its UTF-8, and lets nobody in by password', () => {
    const { osProfile } = composeVirtualMachine(input);
    expect(Buffer.from(osProfile?.customData ?? '', 'base64').toString('utf8')).toBe(input.bootstrap);
    expect(osProfile?.linuxConfiguration).toEqual({
      disablePasswordAuthentication: true,
      ssh: { publicKeys: [{ keyData: 'ssh-ed25519 AAAA', path: '/home/azureuser/.ssh/authorized_keys' }] },
    });
  });

  it.each([
    ['a community gallery', '/CommunityGalleries/aks/images/i/versions/1', 'communityGalleryImageId'],
    ['a gallery of one’s own', '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/galleries/x', 'id'],
  ])('takes an image of %s', (_, imageId, field) => {
    expect(composeVirtualMachine({ ...input, imageId }).storageProfile?.imageReference).toEqual({ [field]: imageId });
  });

  it('has the template’s tags, with Driftless’ own above them', () => {
    expect(composeVirtualMachine(input).tags).toEqual({ cost: 'shop', who: 'driftless' });
  });

  it('has identities and a disk size where the template names them', () => {
    const template = { ...input.template, identityIds: [identityId], osDiskSizeGb: 128 };
    const virtualMachine = composeVirtualMachine({ ...input, template });
    expect(virtualMachine.identity).toEqual({ type: 'UserAssigned', userAssignedIdentities: { [identityId]: {} } });
    expect(virtualMachine.storageProfile?.osDisk?.diskSizeGB).toBe(128);
  });
});
