/** The contract of the log-prob ops on a device, as plain functions and as named checks. */
import { DataError } from '@saccade/core';
import {
  type CheckOptions,
  type DeviceCheck,
  expectError,
  needsOf,
  opChecks,
} from '@saccade/ops/contract';
import { checkRowsLeftOut } from './check-rows-left-out.ts';
import { checkSampleMatchesLogprob, type SampleShape } from './check-sample.ts';
import { checkKnownSets, checkNothingTruncated } from './check-truncation.ts';
import { linearLogprob, linearSample, linearSampleTruncated } from './ops/catalog.ts';
import { logprobCatalog } from './registry.ts';

export { checkRowsLeftOut } from './check-rows-left-out.ts';
export { checkSampleMatchesLogprob, type SampleShape } from './check-sample.ts';
export { checkKnownSets, checkNothingTruncated } from './check-truncation.ts';

/** Less than one chunk of the vocabulary, and several with a remainder. */
const SAMPLED: readonly SampleShape[] = [
  { N: 1, D: 5, V: 3, temperature: 1 },
  { N: 27, D: 40, V: 700, temperature: 0.7 },
  { N: 50, D: 400, V: 2200, temperature: 0 },
];

/** The same, smaller: every logit is read some forty times. */
const TRUNCATED: readonly SampleShape[] = [
  { N: 1, D: 5, V: 3, temperature: 1 },
  { N: 9, D: 20, V: 700, temperature: 0.7 },
];

/**
 * All checks of the log-prob ops on a backend: every kernel, sampling against scoring, truncated
 * sampling against known sets, rows left out, and targets outside the vocabulary.
 */
export function logprobChecks(options: CheckOptions = {}): readonly DeviceCheck[] {
  const { dtype = 'f32' } = options;
  const scored = needsOf(linearLogprob, dtype);
  const sampled = needsOf(linearSample, dtype);
  const truncated = needsOf(linearSampleTruncated, dtype);
  return [
    ...logprobCatalog.flatMap((op) => opChecks(op, options)),
    {
      name: `linearSample in ${dtype} records the log-probs of linearLogprob, bit for bit`,
      needs: [...scored.slice(0, 1), ...sampled],
      async run({ device }) {
        for (const [seed, shape] of SAMPLED.entries()) {
          await checkSampleMatchesLogprob(device, shape, seed, dtype);
        }
      },
    },
    {
      name: `linearSampleTruncated in ${dtype} equals linearSample where nothing is left out`,
      needs: [...sampled, ...truncated],
      async run({ device }) {
        for (const [seed, shape] of TRUNCATED.entries()) {
          await checkNothingTruncated(device, shape, seed, dtype);
        }
      },
    },
    {
      name: `linearSampleTruncated in ${dtype} keeps known sets of entries, some equally likely`,
      needs: truncated,
      run: ({ device }) => checkKnownSets(device, dtype),
    },
    {
      name: `linearLogprob in ${dtype} leaves rows out whatever they hold`,
      needs: scored,
      run: ({ device }) => checkRowsLeftOut(device, 1, dtype),
    },
    {
      name: `linearLogprob in ${dtype} refuses targets outside the vocabulary in words`,
      needs: scored.slice(0, 1),
      async run({ device }) {
        const hidden = device.upload(dtype, [3, 2], Array(6).fill(1));
        const weight = device.upload(dtype, [5, 2], Array(10).fill(1));
        for (const [wrong, message] of [
          [[1, 5, 0], /linearLogprob: targets\[1\] is 5; expected at least -1 and below 5\./],
          [[1, 0, -2], /linearLogprob: targets\[2\] is -2; expected at least -1 and below 5\./],
        ] as const) {
          const targets = device.upload('i32', [3], wrong);
          // Thrown at once by a backend that runs launches at once, else by the next wait.
          const launch = async () => {
            device.forward(linearLogprob, { hidden, weight, targets });
            await device.synchronize();
          };
          await expectError(`targets ${wrong.join(', ')}`, launch, DataError, message);
        }
      },
    },
  ];
}
