import type { TokenCredential } from '@azure/core-auth';
import { DefaultAzureCredential } from '@azure/identity';
import { readFile } from 'node:fs/promises';

/** A token that something else keeps fresh in a file: read anew whenever the SDK asks. */
function fileCredential(path: string): TokenCredential {
  return {
    async getToken() {
      const token = (await readFile(path, 'utf8')).trim();
      // The SDK keeps a token until shortly before its end: a minute makes it look at the file again soon.
      return { token, expiresOnTimestamp: Date.now() + 60_000 };
    },
  };
}

/** The credential for ARM: Azure's default chain (workload identity, managed identity, CLI), unless a token file is given. */
export function createCredential(tokenFile: string | undefined): TokenCredential {
  return tokenFile === undefined ? new DefaultAzureCredential() : fileCredential(tokenFile);
}
