export default async function globalTeardown() {
  await globalThis.temporalServer.stop();
}
