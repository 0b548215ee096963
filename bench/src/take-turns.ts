/** Several things timed in turns, so that whatever else the machine does hits all of them. */
import type { MeasureOptions } from './measure.ts';

/** A turn lasts at least this: short ops run many times. */
const LEAST_TURN_SECONDS = 0.02;
const LEAST_ROUNDS = 5;
/** Of turns that take so long together, three. */
const LONG_ROUND_SECONDS = 60;
const LONG_SECONDS = 0.2;
/**
 * Threads of a pool spin for a while after their work, those of PyTorch (libgomp) for 8 ms: with a
 * pause of 5 the next side shared a processor with them. By now they sleep.
 */
const PAUSE_MILLISECONDS = 20;

/**
 * Seconds of each side by round; the first round warms up and is left out.
 *
 * @param sides  each runs so many times in a row and gives the seconds of one
 */
export async function takeTurns(
  sides: readonly ((launches: number) => Promise<number>)[],
  { rounds, seconds }: MeasureOptions,
): Promise<readonly (readonly number[])[]> {
  const once = [];
  for (const side of sides) {
    const first = await side(1);
    // A first run makes what later ones keep; it says little about a short one.
    once.push(first < LONG_SECONDS ? await side(1) : first);
  }
  const launches = once.map((time) => Math.max(1, Math.ceil(LEAST_TURN_SECONDS / time)));
  const perRound = once.reduce((sum, time, i) => sum + time * (launches[i] ?? 1), 0);
  const least = perRound > LONG_ROUND_SECONDS ? 3 : LEAST_ROUNDS;
  const count = Math.min(rounds, Math.max(least, Math.floor(seconds / perRound)));
  const times: number[][] = sides.map(() => []);
  for (let round = 0; round <= count; round++) {
    for (const [i, side] of sides.entries()) {
      await new Promise((wake) => setTimeout(wake, PAUSE_MILLISECONDS));
      const time = await side(launches[i] ?? 1);
      if (round > 0) times[i]?.push(time);
    }
  }
  return times;
}
