import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { NativeConnectionOptions } from '@temporalio/worker';

import { errorMessage, UserError } from '../../runtime/errors.js';
import { searchAttributeNames } from '../../workflows/searchAttributes.js';

/** The namespace that Driftless has for itself unless told otherwise. */
const defaultNamespace = 'driftless';
/** indexed_value_type 2 in Temporal's API. */
const keywordType = 2;

export interface TemporalSettings {
  readonly connection: NativeConnectionOptions;
  readonly address: string;
  readonly namespace: string;
}

/**
 * Where Temporal is: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_*, or a profile of Temporal's own
 * configuration file.
 * @throws UserError when the configuration cannot be read
 */
export function loadTemporalSettings(): TemporalSettings {
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig();
    const address = connectionOptions.address ?? 'localhost:7233';
    return { connection: { ...connectionOptions, address }, address, namespace: namespace ?? defaultNamespace };
  } catch (error) {
    throw new UserError(`the Temporal configuration (TEMPORAL_*): ${errorMessage(error)}`);
  }
}

/** @throws UserError when there is no Temporal at the address */
export async function connectToTemporal({ connection, address }: TemporalSettings): Promise<Connection> {
  try {
    return await Connection.connect(connection);
  } catch (error) {
    throw new UserError(`no Temporal at TEMPORAL_ADDRESS ${address}: ${errorMessage(error)}`);
  }
}

/** A probe's answer may not take longer. */
const probeMs = 2_000;

/** Why Temporal does not answer, in a line; undefined: it does. */
export async function whyUnreachable(
  connection: Connection,
  { address }: TemporalSettings,
): Promise<string | undefined> {
  try {
    await connection.withDeadline(Date.now() + probeMs, () => connection.workflowService.getSystemInfo({}));
    return undefined;
  } catch (error) {
    return `no answer from Temporal at ${address}: ${errorMessage(error)}`;
  }
}

/**
 * The id of the namespace, which is our mark on everything; checks that the namespace has what workflows need.
 * @throws UserError that says how to make what is missing
 */
export async function checkNamespace(connection: Connection, namespace: string): Promise<string> {
  const described = await connection.workflowService.describeNamespace({ namespace }).catch((error: unknown) => {
    throw new UserError(
      `TEMPORAL_NAMESPACE ${namespace}: ${errorMessage(error)}; "temporal operator namespace create -n ${namespace}" makes it`,
    );
  });
  const id = described.namespaceInfo?.id;
  if (id === undefined || id === null || id === '') throw new UserError(`TEMPORAL_NAMESPACE ${namespace} has no id`);
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = searchAttributeNames.filter((name) => Number(customAttributes[name]) !== keywordType);
  if (missing.length > 0) {
    const flags = missing.map((name) => `--name ${name} --type Keyword`).join(' ');
    throw new UserError(
      `TEMPORAL_NAMESPACE ${namespace} has no search attributes ${missing.join(', ')}; "temporal operator search-attribute create -n ${namespace} ${flags}" makes them`,
    );
  }
  return id;
}
