import { readFile } from 'node:fs/promises';

import { errorMessage, UserError } from '../runtime/errors.js';

/** Linux counts CPU time for user space in these. */
const ticksPerSecond = 100;
const bytesPerKilobyte = 1024;

/** What a process takes of the machine, as Linux sees it. */
export interface ProcessUsage {
  readonly rssBytes: number;
  /** The most that it ever had. */
  readonly peakRssBytes: number;
  /** Since its start, of all its threads, user and system. */
  readonly cpuMs: number;
}

/** @throws UserError where there is no /proc */
export async function readProcessUsage(pid: number): Promise<ProcessUsage> {
  try {
    const [status, stat] = await Promise.all([
      readFile(`/proc/${pid}/status`, 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ]);
    const kilobytes = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
    // proc_pid_stat(5): after the name, which may contain anything, utime and stime are the 12th and 13th field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    return {
      rssBytes: kilobytes('VmRSS') * bytesPerKilobyte,
      peakRssBytes: kilobytes('VmHWM') * bytesPerKilobyte,
      cpuMs: (ticks * 1000) / ticksPerSecond,
    };
  } catch (error) {
    throw new UserError(`this measurement needs Linux and its /proc: ${errorMessage(error)}`);
  }
}
