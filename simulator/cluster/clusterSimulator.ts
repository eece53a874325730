import { once } from 'node:events';
import { createServer } from 'node:https';

import { closerOf } from '../../runtime/closeServer.js';
import { AuditLog } from '../auditLog.js';
import { createServerCertificate } from '../certificates.js';
import type { ListenOptions } from '../listenOptions.js';
import { ApiServer } from './apiServer.js';
import type { ClusterAuditEntry } from './audit.js';
import type { ClusterFault } from './faults.js';
import { FaultPlan } from './faults.js';
import { GarbageCollector } from './garbageCollector.js';
import { createInitialObjects } from './initialObjects.js';
import { kubeConfigYaml } from './kubeConfigYaml.js';
import type { Fields } from './objects.js';
import { ObjectStore } from './objectStore.js';
import type { SeedResource } from './seedObject.js';
import { seedObject } from './seedObject.js';
import { Watches } from './watches.js';

export interface ClusterSimulatorOptions extends ListenOptions {
  /** The bearer token that clients have to send. */
  readonly token: string;
  /** How often watches that ask for it are told where they stand. Default 5000. */
  readonly bookmarkIntervalMs?: number;
  /** Whether what an object owns goes after it, as kube-controller-manager has it. Default: no, as with an API server alone. */
  readonly collectsGarbage?: boolean;
  /** How many changes are kept for watches that resume. Default 20000. */
  readonly watchHistory?: number;
}

/** An API server of Kubernetes in this process that behaves as kube-apiserver 1.36 where it answers at all. */
export interface ClusterSimulator {
  /** e.g. `https://127.0.0.1:43210` */
  readonly endpoint: string;
  readonly caPem: string;
  readonly audit: AuditLog<ClusterAuditEntry>;
  /** A kubeconfig with the CA and the token in it. */
  kubeConfigYaml(): string;
  /**
   * Lets something go wrong for the next requests that match. `silence`, `end` and `errorEvent` hit watches that are open already,
   * too, oldest first, before later ones.
   */
  addFault(fault: ClusterFault): void;
  /** Puts an object there with the status that it has, without a request: whoever watches sees it appear. */
  seed(resource: SeedResource, object: Fields): void;
  /** Forgets the past changes: a watch that resumes from before gets 410. */
  compact(): void;
  /** Ends all watches and connections. */
  close(): Promise<void>;
}

/** Starts an API server, on loopback unless told otherwise; it is ready when this settles. */
export async function startClusterSimulator(options: ClusterSimulatorOptions): Promise<ClusterSimulator> {
  const {
    token,
    host = '127.0.0.1',
    port = 0,
    bookmarkIntervalMs = 5000,
    watchHistory = 20_000,
    collectsGarbage = false,
  } = options;
  const { caPem, certPem, keyPem } = await createServerCertificate('cluster-simulator', [host]);
  const store = new ObjectStore(watchHistory);
  createInitialObjects(store);
  const watches = new Watches(store, bookmarkIntervalMs);
  const faults = new FaultPlan();
  const audit = new AuditLog<ClusterAuditEntry>();
  if (collectsGarbage) new GarbageCollector(store, audit).start();
  const apiServer = new ApiServer({ token, store, watches, faults, audit });

  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    void apiServer.handle(request, response);
  });
  const closeServer = closerOf(server);
  // Longer than clients keep idle connections: otherwise a request can meet a connection that is just being closed.
  server.keepAliveTimeout = 120_000;
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const endpoint = `https://${host}:${address.port}`;

  return {
    endpoint,
    caPem,
    audit,
    kubeConfigYaml: () => kubeConfigYaml({ endpoint, caPem, token }),
    addFault(fault) {
      faults.add(fault);
      watches.applyFaults(faults);
    },
    seed(resource, object) {
      seedObject(store, resource, object);
    },
    compact() {
      store.compact();
    },
    async close() {
      watches.stop();
      await closeServer();
    },
  };
}
