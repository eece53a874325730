export default function globalTeardown() {
  globalThis.clearProduction();
}
