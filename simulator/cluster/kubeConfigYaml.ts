interface Access {
  readonly endpoint: string;
  readonly caPem: string;
  readonly token: string;
}

/** A kubeconfig with everything in it. JSON is YAML: the token needs no other quoting. */
export function kubeConfigYaml({ endpoint, caPem, token }: Access): string {
  return `apiVersion: v1
kind: Config
current-context: simulator
clusters:
  - name: simulator
    cluster:
      server: ${endpoint}
      certificate-authority-data: ${Buffer.from(caPem).toString('base64')}
users:
  - name: simulator
    user:
      token: ${JSON.stringify(token)}
contexts:
  - name: simulator
    context:
      cluster: simulator
      user: simulator
`;
}
