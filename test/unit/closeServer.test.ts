import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { connect } from 'node:net';

import { closerOf } from '../../runtime/closeServer.js';
import { createServerCertificate } from '../../simulator/certificates.js';

describe('a server', () => {
  it('is closed at once, though somebody has connected and said nothing yet', async () => {
    const { certPem, keyPem } = await createServerCertificate('test', ['127.0.0.1']);
    const server = createServer({ cert: certPem, key: keyPem });
    const close = closerOf(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    const accepted = once(server, 'connection');
    const socket = connect(address.port, '127.0.0.1');
    const cut = once(socket, 'close');
    await accepted;
    await close();
    await cut;
    expect(server.listening).toBe(false);
  });
});
