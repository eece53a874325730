const ubuntu = '/CommunityGalleries/AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2/images';
const azureLinux = '/CommunityGalleries/AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b/images';

const defaultFamily = 'Ubuntu2204';
const imageIdsByFamily: Readonly<Record<string, string>> = {
  Ubuntu2204: `${ubuntu}/2204gen2containerd/versions/202510.19.1`,
  Ubuntu2404: `${ubuntu}/2404gen2containerd/versions/202510.19.1`,
  AzureLinux: `${azureLinux}/V3gen2/versions/202510.19.1`,
};

/** The id of the newest node image of an AKSNodeClass's image family; none for a family that is unknown. */
export function newestImageId(imageFamily: string = defaultFamily): string | undefined {
  return imageIdsByFamily[imageFamily];
}
