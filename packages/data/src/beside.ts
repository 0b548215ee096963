/** Examples made beside one another: some wait for sandboxes while others are drawn. */

/**
 * The results of all, in order. Where one fails the signal of the others is aborted, and all have
 * ended before its error is thrown.
 *
 * @throws the error of the first that failed
 */
export async function beside<const Results extends readonly unknown[]>(
  makers: { readonly [Index in keyof Results]: (signal: AbortSignal) => Promise<Results[Index]> },
): Promise<Results> {
  const abort = new AbortController();
  const running = makers.map(async (make) => {
    try {
      return await make(abort.signal);
    } catch (error) {
      // Aborted once: the reason stays the first error.
      abort.abort(error);
      throw error;
    }
  });
  await Promise.allSettled(running);
  abort.signal.throwIfAborted();
  return (await Promise.all(running)) as unknown as Results;
}
