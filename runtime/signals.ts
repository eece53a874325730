const stopSignals = ['SIGINT', 'SIGTERM'] as const;

/** Aborts at the first SIGINT or SIGTERM; a second one ends the process at once, as people expect of Ctrl-C. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of stopSignals) {
    process.once(name, () => {
      controller.abort();
    });
  }
  return controller.signal;
}

/** Resolves when the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else
      signal.addEventListener(
        'abort',
        () => {
          resolve(undefined);
        },
        { once: true },
      );
  });
}
