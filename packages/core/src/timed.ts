/** Seconds that an asynchronous call took, with its result. */
export async function timed<Result>(
  work: () => Promise<Result>,
): Promise<readonly [Result, number]> {
  const start = performance.now();
  const result = await work();
  return [result, (performance.now() - start) / 1000];
}
