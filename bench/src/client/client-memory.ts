/** Memory of a client over many steps: whether it stays flat. */
import { blockLength, type Drift, driftOf, type Verdict, verdictOf } from '../drift.ts';
import { emptySeries, firstOf, garbageCollection, LEAST_STEPS, READINGS } from '../memory-steps.ts';
import { MeasuredClient } from './client-steps.ts';
import type { PayloadSizes } from './payload.ts';
import type { Form } from './timed-fetch.ts';

/** Of those of a training: a client has no buffers of a device. */
const OWN = ['residentBytes', 'heapBytes', 'externalBytes'] as const;
type OwnReading = (typeof OWN)[number];

/** What memory did over the steps. */
export interface ClientMemory {
  readonly form: Form;
  readonly steps: number;
  readonly seconds: number;
  readonly drift: Readonly<Record<OwnReading, Drift & { readonly verdict: Verdict }>>;
}

interface ClientMemoryOptions {
  readonly url: string;
  readonly form: Form;
  readonly sizes: PayloadSizes;
  readonly steps: number;
  readonly recoverySteps: number;
  readonly onStep: (line: string) => void;
  /** Once aborted, no other step begins. */
  readonly signal?: AbortSignal;
}

/**
 * Takes steps and reads what the process holds after each, with garbage collected once in every block.
 *
 * @returns undefined where it was stopped before there was a drift to see
 */
export async function measureClientMemory(
  options: ClientMemoryOptions,
): Promise<ClientMemory | undefined> {
  const { url, form, sizes, recoverySteps, onStep, signal } = options;
  let { steps } = options;
  const client = await MeasuredClient.open(url, form, recoverySteps);
  let series = emptySeries(OWN, steps);
  const collectGarbage = garbageCollection();
  const collectEvery = Math.max(1, blockLength(steps));
  const start = performance.now();
  try {
    for (let step = 0; step < steps; step++) {
      await client.step(sizes, step);
      if (step % collectEvery === collectEvery - 1) collectGarbage();
      await new Promise((resolve) => setImmediate(resolve));
      const { rss, heapUsed, external } = process.memoryUsage();
      series.residentBytes[step] = rss;
      series.heapBytes[step] = heapUsed;
      series.externalBytes[step] = external;
      if (step % 10 === 9) onStep(`step ${step + 1} of ${steps}`);
      if (signal?.aborted && step + 1 < steps) {
        steps = step + 1;
        series = firstOf(series, steps);
      }
    }
  } finally {
    await client.dispose();
  }
  if (signal?.aborted && steps < LEAST_STEPS) return undefined;
  const drift = Object.fromEntries(
    OWN.map((reading) => {
      const found = driftOf([...series[reading]]);
      return [reading, { ...found, verdict: verdictOf(found, READINGS[reading].growthAllowed) }];
    }),
  ) as ClientMemory['drift'];
  return { form, steps, seconds: (performance.now() - start) / 1000, drift };
}
