/** Memory of a client over many steps: whether it stays flat. */
import { blockLength, type Drift, driftOf, type Verdict, verdictOf } from '../drift.ts';
import { emptySeries, garbageCollection, READINGS } from '../memory-steps.ts';
import { MeasuredClient } from './client-steps.ts';
import type { PayloadSizes } from './payload.ts';
import type { Form } from './timed-fetch.ts';

/** Of those of a training: a client has no buffers of a device. */
const OWN = ['residentBytes', 'heapBytes', 'externalBytes'] as const;
type OwnReading = (typeof OWN)[number];

interface ClientMemory {
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
}

/** Takes steps and reads what the process holds after each, with garbage collected once in every block. */
export async function measureClientMemory(options: ClientMemoryOptions): Promise<ClientMemory> {
  const { url, form, sizes, steps, recoverySteps, onStep } = options;
  const client = await MeasuredClient.open(url, form, recoverySteps);
  const series = emptySeries(OWN, steps);
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
    }
  } finally {
    await client.dispose();
  }
  const drift = Object.fromEntries(
    OWN.map((reading) => {
      const found = driftOf([...series[reading]]);
      return [reading, { ...found, verdict: verdictOf(found, READINGS[reading].growthAllowed) }];
    }),
  ) as ClientMemory['drift'];
  return { form, steps, seconds: (performance.now() - start) / 1000, drift };
}
