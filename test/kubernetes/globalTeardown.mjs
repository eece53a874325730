export default async function globalTeardown() {
  await globalThis.controlPlane.stop();
}
