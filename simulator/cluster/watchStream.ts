import type { ServerResponse } from 'node:http';

/** How far a client may lag behind before it is dropped. It then comes back and resumes, as with a real API server. */
const maxLagBytes = 8 * 1024 * 1024;

/** The response of one watch. */
export class WatchStream {
  #isSilent = false;
  #isOpen = true;
  /** What waits for a client that reads slowly. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Grows with what the watch begins with: that may take as long as it takes. */
  #limitBytes = maxLagBytes;

  constructor(private readonly response: ServerResponse) {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private' });
    response.flushHeaders();
    response.on('drain', () => {
      this.#flush();
    });
    response.once('close', () => {
      this.#isOpen = false;
      this.#waiting = [];
    });
  }

  /** Sends what the watch begins with, at the pace of the client. */
  sendBacklog(lines: readonly Buffer[]): void {
    for (const line of lines) {
      this.#enqueue(line);
      this.#limitBytes += line.length;
    }
    this.#flush();
  }

  send(line: Buffer): void {
    if (!this.#isOpen || this.#isSilent) return;
    this.#enqueue(line);
    this.#flush();
    if (this.#waitingBytes > this.#limitBytes) this.destroy();
  }

  /** Sends nothing more, and does not say so. */
  silence(): void {
    this.#isSilent = true;
    this.#waiting = [];
  }

  /** Ends a watch whose time is over. A silent one does not even do that. */
  expire(): void {
    if (!this.#isSilent) this.end();
  }

  end(lastLine?: Buffer): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.response.end(Buffer.concat(lastLine === undefined ? this.#waiting : [...this.#waiting, lastLine]));
  }

  destroy(): void {
    this.#isOpen = false;
    this.response.destroy();
  }

  #enqueue(line: Buffer): void {
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
  }

  #flush(): void {
    if (!this.#isOpen || this.response.writableNeedDrain) return;
    let sent = 0;
    for (const line of this.#waiting) {
      sent += 1;
      this.#waitingBytes -= line.length;
      if (!this.response.write(line)) break;
    }
    this.#waiting.splice(0, sent);
  }
}
