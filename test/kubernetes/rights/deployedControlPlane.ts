import { loadAllYaml } from '@kubernetes/client-node';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

import type { Access } from '../../../demo/controlPlane/access.js';
import { sendRaw } from '../../../demo/controlPlane/access.js';
import { neededCrds } from '../../../demo/controlPlane/assets.js';
import type { ControlPlane } from '../../../demo/controlPlane/controlPlane.js';
import { startControlPlane } from '../../../demo/controlPlane/controlPlane.js';
import { controlPlaneIn } from '../server/controlPlaneVariable.js';

const run = promisify(execFile);

const namespace = 'driftless';

/** A control plane with everything of deploy/ in it. */
export interface DeployedControlPlane extends ControlPlane {
  /** As a person of the group that deploy/ is for. */
  readonly operator: Access;
  /** What deploy/ holds. */
  readonly manifests: readonly unknown[];
  /** As a ServiceAccount of deploy/, by a token that the API server issues for it. */
  accessAs(serviceAccount: string): Promise<Access>;
}

/** The API server's name for a ServiceAccount of deploy/. */
export function userNameOf(serviceAccount: string): string {
  return `system:serviceaccount:${namespace}:${serviceAccount}`;
}

function readManifests(): readonly unknown[] {
  const paths = readdirSync('deploy').filter((name) => name.endsWith('.yaml'));
  return paths.flatMap((name): unknown[] => loadAllYaml(readFileSync(join('deploy', name), 'utf8')));
}

async function issueToken(access: Access, serviceAccount: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`;
  const request = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} });
  const headers = { 'Content-Type': 'application/json' };
  const { body } = await sendRaw(access, 'POST', path, { body: request, headers });
  return z.object({ status: z.object({ token: z.string() }) }).parse(body).status.token;
}

/**
 * Starts a control plane that no other test file has, and applies deploy/ to it as its docs say.
 * @throws when kubectl refuses anything of it
 */
export async function startDeployedControlPlane(): Promise<DeployedControlPlane> {
  const shared = controlPlaneIn(process.env);
  if (shared === undefined) throw new Error('no control plane: these tests run by npm run test:kubernetes');
  const user = { name: 'operator', group: 'driftless-operators', token: randomUUID() };
  const controlPlane = await startControlPlane(shared.binaries, await neededCrds(process.env), { users: [user] });
  const cache = mkdtempSync(join(tmpdir(), 'driftless-kubectl-'));
  try {
    const flags = ['--kubeconfig', controlPlane.kubeConfigPath, '--cache-dir', cache];
    await run(process.env.KUBECTL ?? 'kubectl', [...flags, 'apply', '-f', 'deploy/']);
  } catch (error) {
    await controlPlane.stop();
    throw error;
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
  return {
    ...controlPlane,
    operator: { ...controlPlane.access, token: user.token },
    manifests: readManifests(),
    accessAs: async (serviceAccount) => ({
      ...controlPlane.access,
      token: await issueToken(controlPlane.access, serviceAccount),
    }),
  };
}
