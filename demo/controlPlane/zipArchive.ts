import { inflateRawSync } from 'node:zlib';

/** One file of a zip archive. */
export interface ZipEntry {
  readonly name: string;
  readonly content: () => Buffer;
}

const endSignature = 0x06054b50;
const endLength = 22;
const entrySignature = 0x02014b50;
const entryLength = 46;
const localLength = 30;
const stored = 0;
const deflated = 8;

function findEnd(archive: Buffer): number {
  for (let at = archive.length - endLength; at >= 0; at -= 1) if (archive.readUInt32LE(at) === endSignature) return at;
  throw new Error('not a zip archive: it has no end record');
}

function contentAt(archive: Buffer, entryAt: number): Buffer {
  const method = archive.readUInt16LE(entryAt + 10);
  const length = archive.readUInt32LE(entryAt + 20);
  const localAt = archive.readUInt32LE(entryAt + 42);
  const start = localAt + localLength + archive.readUInt16LE(localAt + 26) + archive.readUInt16LE(localAt + 28);
  const bytes = archive.subarray(start, start + length);
  if (method === stored) return bytes;
  if (method === deflated) return inflateRawSync(bytes);
  throw new Error(`zip compression method ${method} is not read here: stored and deflated are`);
}

/**
 * The files of a zip archive (PKWARE's APPNOTE, without Zip64), folders left out.
 * @throws Error when it is none
 */
export function readZip(archive: Buffer): readonly ZipEntry[] {
  const endAt = findEnd(archive);
  const count = archive.readUInt16LE(endAt + 10);
  const entries: ZipEntry[] = [];
  let at = archive.readUInt32LE(endAt + 16);
  for (let index = 0; index < count; index += 1) {
    if (archive.readUInt32LE(at) !== entrySignature) throw new Error(`zip entry ${index} has no entry record`);
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + entryLength, at + entryLength + nameLength);
    const entryAt = at;
    if (!name.endsWith('/')) entries.push({ name, content: () => contentAt(archive, entryAt) });
    at += entryLength + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return entries;
}
