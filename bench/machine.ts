import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

/** What figures are worth nothing without: the machine, its load before, Node.js, the date. */
export function describeMachine(): string {
  const [cpu] = cpus();
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GiB`;
  const load = `load ${(loadavg()[0] ?? 0).toFixed(1)}`;
  const date = new Date().toISOString().slice(0, 10);
  return [
    `${availableParallelism()} x ${cpu?.model ?? 'unknown CPU'}`,
    memory,
    load,
    `Node.js ${process.version}`,
    date,
  ].join(', ');
}
