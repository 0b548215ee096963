/** Times launches that are queued together. */

/** Seconds of one launch, `launches` of them in a row and one wait at the end. */
export async function timeOnce(
  launch: () => void | Promise<void>,
  wait: () => Promise<void>,
  launches: number,
): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < launches; i++) {
    const queued = launch();
    // Where queueing itself takes no promise, none is waited for.
    if (queued !== undefined) await queued;
  }
  await wait();
  return (performance.now() - start) / 1000 / launches;
}
