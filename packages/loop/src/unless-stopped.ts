/** Work without steps of its own, which is given up as soon as a person asks for a stop. */
import { Interrupted } from './run.ts';

/** How often a stop is looked for, in milliseconds. */
const EVERY = 100;

/**
 * The result of work that leaves nothing behind if it is given up: it goes on unheard while the run
 * ends.
 *
 * @param onLate is given a result that nobody waits for any more
 * @throws Interrupted once a stop is asked for
 */
export async function unlessStopped<T>(
  isStopRequested: () => boolean,
  work: Promise<T>,
  onLate: (result: T) => unknown = () => {},
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const stop = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      if (!isStopRequested()) return;
      isStopped = true;
      reject(new Interrupted());
    }, EVERY);
  });
  // Its failure is of no interest either.
  work.then((result) => isStopped && onLate(result)).catch(() => {});
  try {
    return await Promise.race([work, stop]);
  } catch (error) {
    // What was asked to end says so in its own words.
    throw isStopRequested() ? new Interrupted() : error;
  } finally {
    clearInterval(timer);
  }
}
