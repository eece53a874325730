import { pino } from 'pino';

/** A structured log: a static message plus metadata, one JSON line an event. */
export interface Log {
  debug(metadata: object, message: string): void;
  info(metadata: object, message: string): void;
  warn(metadata: object, message: string): void;
  error(metadata: object, message: string): void;
  child(metadata: object): Log;
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Keys that can carry credentials or Azure's signed operation URLs: never written. */
const redactedKeys = [
  'authorization',
  'token',
  'resumeToken',
  'operationUrl',
  'customData',
  '*.authorization',
  '*.token',
  '*.resumeToken',
  '*.operationUrl',
  '*.customData',
];

/** Creates the process's log on stderr, so that stdout stays for what a command answers. */
export function createLog(service: string, level: LogLevel): Log {
  return pino(
    { base: { service }, level, timestamp: pino.stdTimeFunctions.isoTime, redact: redactedKeys },
    pino.destination({ dest: 2, sync: true }),
  );
}
