/** Waiting before a retry. */

/** Milliseconds to wait before a retry, if the server asks for a retry. */
export function retryAfterMs(answer: {
  readonly status: number;
  readonly headers: Headers;
}): number | undefined {
  const { status, headers } = answer;
  if (status !== 429 && status !== 503) return undefined;
  const header = headers.get('retry-after');
  if (header === null) return undefined;
  const seconds = Number(header);
  const wait = Number.isFinite(seconds) ? 1000 * seconds : Date.parse(header) - Date.now();
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}

/** Waits for so long. @throws the signal's reason if it is aborted */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms <= 0) return;
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
