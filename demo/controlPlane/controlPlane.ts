import { KubeConfig } from '@kubernetes/client-node';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createKubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { freePort } from '../freePort.js';
import { createServerCertificate } from '../../simulator/certificates.js';
import { kubeConfigYaml } from '../../simulator/cluster/kubeConfigYaml.js';
import type { Access } from './access.js';
import { sendRaw } from './access.js';
import { assetsFolder } from './assets.js';
import type { Binaries } from './binaries.js';
import type { ChildServer } from './childProcess.js';
import { startChildServer } from './childProcess.js';
import { startControllers, startScheduler } from './controllers.js';
import { installCrds } from './installCrds.js';

/** etcd, kube-apiserver and the controllers without which an API server is not whole, on loopback. */
export interface ControlPlane {
  readonly access: Access;
  readonly kubeConfig: KubeConfig;
  readonly kubeConfigPath: string;
  /** What was asked of the API server, as audit.k8s.io/v1 Events in JSON, a line each. */
  readonly auditLogPath: string;
  stop(): Promise<void>;
}

/** Somebody who signs in by a token, and may do what his group is allowed. */
export interface User {
  readonly name: string;
  readonly group: string;
  readonly token: string;
}

export interface ControlPlaneOptions {
  /** Those who are known beside `admin`, who may do everything. */
  readonly users?: readonly User[];
  /** Those of kube-controller-manager that run beside the garbage collector's and the namespaces'. */
  readonly controllers?: readonly string[];
  /** Default: no. */
  readonly withScheduler?: boolean;
}

/** An API server is not whole without them. */
const leastControllers = ['garbage-collector-controller', 'namespace-controller'];
/** The log is read at the end of a run, in one piece: it must not be rotated before. */
const auditLogMegabytes = 100_000;

async function startEtcd(path: string, folder: string): Promise<ChildServer & { readonly endpoint: string }> {
  const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const parameters = [
    ...['--data-dir', join(folder, 'etcd'), '--unsafe-no-fsync'],
    ...['--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
  ];
  const isUp = async (): Promise<boolean> => (await fetch(`${client}/health`)).ok;
  return { ...(await startChildServer({ name: 'etcd', path, parameters }, folder, isUp)), endpoint: client };
}

function writeFiles(folder: string, files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const paths = new Map<string, string>();
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    writeFileSync(path, content, { mode: 0o600 });
    paths.set(name, path);
  }
  return Object.fromEntries(paths);
}

async function startApiServer(
  path: string,
  folder: string,
  etcdEndpoint: string,
  users: readonly User[],
): Promise<ChildServer & Pick<ControlPlane, 'access' | 'auditLogPath'>> {
  const port = await freePort();
  const { caPem, certPem, keyPem } = await createServerCertificate('kube-apiserver');
  const access = { endpoint: `https://127.0.0.1:${port}`, caPem, token: randomUUID() };
  const admin = { name: 'admin', group: 'system:masters', token: access.token };
  const tokens = [admin, ...users].map(({ name, group, token }, index) => `${token},${name},${index},${group}\n`);
  const auditLogPath = join(folder, 'audit.log');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const files = writeFiles(folder, {
    'server.crt': certPem,
    'server.key': keyPem,
    'serviceAccount.key': privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    'tokens.csv': tokens.join(''),
  });
  const parameters = [
    ...['--etcd-servers', etcdEndpoint, '--secure-port', String(port), '--bind-address', '127.0.0.1'],
    ...['--advertise-address', '127.0.0.1', '--endpoint-reconciler-type', 'none'],
    ...['--tls-cert-file', files['server.crt'] ?? '', '--tls-private-key-file', files['server.key'] ?? ''],
    ...['--token-auth-file', files['tokens.csv'] ?? '', '--authorization-mode', 'RBAC'],
    ...['--service-account-key-file', files['serviceAccount.key'] ?? ''],
    ...['--service-account-signing-key-file', files['serviceAccount.key'] ?? ''],
    ...['--service-account-issuer', 'https://kubernetes.test', '--service-cluster-ip-range', '10.0.0.0/24'],
    ...['--audit-policy-file', join(assetsFolder(), 'auditPolicy.yaml')],
    ...['--audit-log-path', auditLogPath, '--audit-log-maxsize', String(auditLogMegabytes)],
    // Simulated pods have no need of an account and its token.
    ...['--disable-admission-plugins', 'ServiceAccount'],
  ];
  const isUp = async (): Promise<boolean> => (await sendRaw(access, 'GET', '/readyz')).code === 200;
  return {
    ...(await startChildServer({ name: 'kube-apiserver', path, parameters }, folder, isUp)),
    access,
    auditLogPath,
  };
}

/**
 * Starts a control plane with Karpenter's CRDs in it.
 * @throws UserError with the end of its log when a part does not start
 */
export async function startControlPlane(
  binaries: Binaries,
  crds: readonly string[],
  options: ControlPlaneOptions = {},
): Promise<ControlPlane> {
  const { users = [], controllers = [], withScheduler = false } = options;
  const folder = mkdtempSync(join(tmpdir(), 'driftless-kubernetes-'));
  const servers: ChildServer[] = [];
  const stop = async (): Promise<void> => {
    for (const server of servers.reverse()) await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    mkdirSync(join(folder, 'etcd'), { mode: 0o700 });
    const etcd = await startEtcd(binaries.etcd, folder);
    servers.push(etcd);
    const apiServer = await startApiServer(binaries['kube-apiserver'], folder, etcd.endpoint, users);
    servers.push(apiServer);
    const { access, auditLogPath } = apiServer;
    const { kubeconfig: kubeConfigPath = '' } = writeFiles(folder, { kubeconfig: kubeConfigYaml(access) });
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromFile(kubeConfigPath);
    await installCrds(createKubernetesApi(kubeConfig, 'driftless-demo'), crds);
    servers.push(await startControllers(binaries, kubeConfigPath, [...leastControllers, ...controllers]));
    if (withScheduler) servers.push(await startScheduler(binaries, kubeConfigPath));
    return { access, kubeConfig, kubeConfigPath, auditLogPath, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
