// x509's injector asks for it before anything else.
import 'reflect-metadata';

import * as x509 from '@peculiar/x509';
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';

x509.cryptoProvider.set(webcrypto);

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const validMs = 7 * 24 * 3_600_000;

/** PEM texts of a server's certificate, its key, and the CA that a client has to trust. */
export interface ServerCertificate {
  readonly caPem: string;
  readonly certPem: string;
  readonly keyPem: string;
}

function validity(): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + validMs) };
}

/** Makes a CA of its own and a certificate for `localhost`, `127.0.0.1` and any further hosts. The CA's key is not kept. */
export async function createServerCertificate(name: string, hosts: readonly string[] = []): Promise<ServerCertificate> {
  const caKeys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name} CA`,
    keys: caKeys,
    signingAlgorithm: algorithm,
    ...validity(),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: ca.subject,
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: algorithm,
    ...validity(),
    extensions: [
      new x509.BasicConstraintsExtension(false),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        [...new Set(['localhost', '127.0.0.1', ...hosts])].map((value) => ({
          type: isIP(value) === 0 ? 'dns' : 'ip',
          value,
        })),
      ),
    ],
  });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    caPem: ca.toString('pem'),
    certPem: certificate.toString('pem'),
    keyPem: x509.PemConverter.encode(key, 'PRIVATE KEY'),
  };
}
