import type { Middleware, RequestContext } from '@kubernetes/client-node';
import {
  AppsV1Api,
  CoreV1Api,
  createConfiguration,
  CustomObjectsApi,
  KubeConfig,
  PatchStrategy,
  PolicyV1Api,
  ServerConfiguration,
  setHeaderOptions,
  StorageV1Api,
} from '@kubernetes/client-node';

/** How long one request to the API server may take, unless told otherwise. Watches have their own bound. */
const defaultRequestTimeoutMs = 15_000;
/** How long connections are shared before a new pool is made, so that rotated certificates come into effect. */
const poolLifetimeMs = 600_000;

const readingMethods: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** The typed clients of one API server. */
export interface KubernetesApi {
  readonly kubeConfig: KubeConfig;
  readonly userAgent: string;
  readonly core: CoreV1Api;
  readonly apps: AppsV1Api;
  readonly policy: PolicyV1Api;
  readonly storage: StorageV1Api;
  readonly custom: CustomObjectsApi;
}

/** For calls whose body is an RFC 7386 merge patch. */
export const mergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
/** For calls whose body is an RFC 6902 JSON patch: with `test` operations where a lost update would hurt. */
export const jsonPatch = setHeaderOptions('Content-Type', PatchStrategy.JsonPatch);

export interface KubernetesApiOptions {
  /** Throws when nothing may be changed now; called before each request that changes something. */
  readonly checkMayChange?: () => void;
  /** How long one request may take, in milliseconds. Default: 15 s. */
  readonly requestTimeoutMs?: number;
}

/**
 * client-node makes a connection pool for each request and each watch: they keep each other's connections from being used again, and
 * stay in memory for minutes. The first one of a while serves all.
 */
class SharedPool {
  #dispatcher: ReturnType<RequestContext['getDispatcher']>;
  #untilMs = 0;

  /** Gives the request the shared pool instead of its own. */
  use(request: RequestContext): void {
    const nowMs = Date.now();
    if (this.#dispatcher === undefined || nowMs >= this.#untilMs) {
      this.#dispatcher = request.getDispatcher();
      this.#untilMs = nowMs + poolLifetimeMs;
    }
    if (this.#dispatcher !== undefined) request.setDispatcher(this.#dispatcher);
  }
}

/** client-node's watches go past the middleware: their only hook is where credentials are applied. */
class WatchKubeConfig extends KubeConfig {
  readonly #pool = new SharedPool();

  constructor(
    { clusters, contexts, users, currentContext }: KubeConfig,
    private readonly userAgent: string,
  ) {
    super();
    this.loadFromOptions({ clusters, contexts, users, currentContext });
  }

  override async applySecurityAuthentication(context: RequestContext): Promise<void> {
    await super.applySecurityAuthentication(context);
    this.#pool.use(context);
    context.setHeaderParam('User-Agent', this.userAgent);
  }
}

/** Shares the connection pool, names the caller and bounds the request's time. */
function requestMiddleware(userAgent: string, options: KubernetesApiOptions): Middleware {
  const { checkMayChange, requestTimeoutMs = defaultRequestTimeoutMs } = options;
  const pool = new SharedPool();
  return {
    pre(request) {
      if (!readingMethods.has(request.getHttpMethod())) checkMayChange?.();
      pool.use(request);
      request.setHeaderParam('User-Agent', userAgent);
      request.setSignal(AbortSignal.timeout(requestTimeoutMs));
      return Promise.resolve(request);
    },
    post: (response) => Promise.resolve(response),
  };
}

/**
 * Clients for the current context of a kubeconfig.
 * @param userAgent who is asking: it stands in the API server's audit log.
 */
export function createKubernetesApi(
  kubeConfig: KubeConfig,
  userAgent: string,
  options: KubernetesApiOptions = {},
): KubernetesApi {
  const cluster = kubeConfig.getCurrentCluster();
  if (cluster === null) throw new Error('the kubeconfig has no current cluster');
  const configuration = createConfiguration({
    baseServer: new ServerConfiguration(cluster.server, {}),
    authMethods: { default: kubeConfig },
    promiseMiddleware: [requestMiddleware(userAgent, options)],
  });
  return {
    kubeConfig: new WatchKubeConfig(kubeConfig, userAgent),
    userAgent,
    core: new CoreV1Api(configuration),
    apps: new AppsV1Api(configuration),
    policy: new PolicyV1Api(configuration),
    storage: new StorageV1Api(configuration),
    custom: new CustomObjectsApi(configuration),
  };
}
