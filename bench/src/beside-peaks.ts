/** A case timed in turns with the peaks of the machine, whose speed may change from one second to the next. */
import type { Cost } from '@saccade/ops';
import type { MeasureOptions } from './measure.ts';
import { type Ceiling, shareOfRoofline } from './roofline.ts';
import { type Sample, summarize } from './statistics.ts';
import { takeTurns } from './take-turns.ts';
import { timeOnce } from './time-once.ts';

interface BesidePeaks {
  readonly seconds: Sample;
  /** Of the roofline of the same turn. */
  readonly shares: Sample;
}

/**
 * @param launch   queues the work once
 * @param wait     resolves when all that was queued has run
 * @param ceiling  measures what the machine can do now
 */
export async function measureBesidePeaks(
  launch: () => void,
  wait: () => Promise<void>,
  ceiling: () => Ceiling,
  cost: Cost,
  options: MeasureOptions,
): Promise<BesidePeaks> {
  const measured: Ceiling[] = [];
  const [times = []] = await takeTurns(
    [
      (launches) => timeOnce(launch, wait, launches),
      async () => {
        const start = performance.now();
        measured.push(ceiling());
        return (performance.now() - start) / 1000;
      },
    ],
    options,
  );
  // Those before belong to rounds that are left out.
  const ceilings = measured.slice(-times.length);
  const shares = ceilings.map((one, i) => shareOfRoofline(cost, one, times[i] ?? Number.NaN));
  return { seconds: summarize(times), shares: summarize(shares) };
}
