/** Compares sampling with scoring, on one device. */
import { randomAt } from '@saccade/core';
import type { Device, StorageForm } from '@saccade/ops';
import { ContractError, dtypeOf, firstDifference } from '@saccade/ops/contract';
import { linearLogprob, linearSample } from './ops/catalog.ts';

/** Sizes of a random problem for `checkSampleMatchesLogprob`. */
export interface SampleShape {
  /** Rows, one sampled token each. */
  readonly N: number;
  /** Hidden size. */
  readonly D: number;
  /** Vocabulary size. */
  readonly V: number;
  /** Divides the logits. 0 samples greedily and compares with the log-probs at temperature 1. */
  readonly temperature: number;
}

/**
 * Checks that the log-prob recorded in sampling is bit for bit the one that scoring gives.
 *
 * The rows are scored in reverse order and with one left out, as in a different batch.
 *
 * @throws ContractError if one differs in a bit
 */
export async function checkSampleMatchesLogprob(
  device: Device,
  { N, D, V, temperature }: SampleShape,
  seed: number,
  dtype: StorageForm = 'f32',
): Promise<void> {
  const random = randomAt(seed, 'sample-matches-logprob');
  const hidden = Float32Array.from({ length: N * D }, () => random.normal());
  const head = Float32Array.from({ length: V * D }, () => random.normal() / Math.sqrt(D));
  const words = Int32Array.from({ length: N * 4 }, () => random.word() | 0);
  const ofRows = dtypeOf(linearSample.inputs.hidden, dtype);
  const weight = device.upload(dtypeOf(linearSample.inputs.weight, dtype), [V, D], head);
  const rows = device.upload(ofRows, [N, D], hidden);
  const keys = device.upload('i32', [N, 4], words);
  const sampled = device.forward(linearSample, { hidden: rows, weight, keys }, { temperature });
  const tokens = await device.read(sampled.tokens);
  const recorded = await device.read(sampled.logprobs);

  const order = Array.from({ length: N }, (_, n) => N - 1 - n);
  const reversed = new Float32Array(N * D);
  order.forEach((row, n) => {
    reversed.set(hidden.subarray(row * D, (row + 1) * D), n * D);
  });
  const other = device.upload(ofRows, [N, D], reversed);
  const wanted = order.map((row, n) => (n === N - 1 && N > 1 ? -1 : tokens[row]));
  const targets = device.upload('i32', [N], wanted);
  const scored = device.forward(
    linearLogprob,
    { hidden: other, weight, targets },
    { temperature: temperature === 0 ? 1 : temperature },
  );
  const logprobs = await device.read(scored.logprobs);
  const given = [weight, rows, keys, other, targets];
  for (const array of [...given, ...Object.values(sampled), ...Object.values(scored)]) {
    device.free(array);
  }
  const expected = order.map((row, n) => (wanted[n] < 0 ? 0 : recorded[row]));
  const at = firstDifference(logprobs, expected);
  if (at < 0) return;
  throw new ContractError(
    `linearSample on ${device.backend.name} (N ${N}, D ${D}, V ${V}, temperature ${temperature}; ` +
      `${dtype}, seed ${seed}): recorded ${expected[at]}, linearLogprob gives ${logprobs[at]}. ` +
      'Fold the vocabulary of both in the same chunks and order.',
  );
}
