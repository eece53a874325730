import type { Server, Socket } from 'node:net';

/**
 * Makes a server that can be closed at once: the result stops it and cuts all connections, those too that Node's closeAllConnections does
 * not know, since they are only being opened. Call it before the server listens.
 */
export function closerOf(server: Server): () => Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return () =>
    new Promise((resolve) => {
      server.close(() => {
        resolve();
      });
      for (const socket of sockets) socket.destroy();
    });
}
