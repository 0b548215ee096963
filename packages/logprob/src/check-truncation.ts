/** Compares sampling from the most likely tokens with sampling from all, and with known sets. */
import { type DType, randomAt } from '@saccade/core';
import type { Device, Scalars } from '@saccade/ops';
import { ContractError, expectSame } from '@saccade/ops/contract';
import type { SampleShape } from './check-sample.ts';
import { linearSample, linearSampleTruncated } from './ops/catalog.ts';

/**
 * Checks that filters that leave nothing out change no bit: the tokens and log-probs are those of
 * `linearSample`, and the kept mass is 1.
 *
 * @throws ContractError if one differs
 */
export async function checkNothingTruncated(
  device: Device,
  { N, D, V, temperature }: SampleShape,
  seed: number,
  dtype: DType = 'f32',
): Promise<void> {
  const random = randomAt(seed, 'nothing-truncated');
  const normals = (length: number, scale: number) =>
    Float32Array.from({ length }, () => scale * random.normal());
  const inputs = {
    hidden: device.upload(dtype, [N, D], normals(N * D, 1)),
    weight: device.upload(dtype, [V, D], normals(V * D, 1 / Math.sqrt(D))),
    keys: device.upload(
      'i32',
      [N, 4],
      Int32Array.from({ length: 4 * N }, () => random.word() | 0),
    ),
  };
  const plain = device.forward(linearSample, inputs, { temperature });
  const [tokens, logprobs] = [await device.read(plain.tokens), await device.read(plain.logprobs)];
  for (const filters of [{ topK: V }, { topK: V + 9, topP: 1, minP: 1e-30 }] as Scalars[]) {
    const drawn = device.forward(linearSampleTruncated, inputs, { temperature, ...filters });
    const where =
      `linearSampleTruncated on ${device.backend.name} (N ${N}, D ${D}, V ${V}, ${dtype}, seed ` +
      `${seed}) with ${JSON.stringify(filters)}, which leaves nothing out:`;
    expectSame(`${where} tokens`, await device.read(drawn.tokens), tokens);
    expectSame(`${where} logprobs`, await device.read(drawn.logprobs), logprobs);
    const least = Math.min(...(await device.read(drawn.keptMass)));
    if (!(least > 1 - 1e-6)) throw new ContractError(`${where} the kept mass is ${least}.`);
    for (const array of Object.values(drawn)) device.free(array);
  }
  for (const array of [...Object.values(inputs), ...Object.values(plain)]) device.free(array);
}

/** Logits ln 8, ln 4, ln 4, ln 2, ln 1, ln 1: of 20 parts of the mass. */
const PARTS = [2, 8, 1, 4, 1, 4];

/** Filters, and which of the entries above they keep. */
const KNOWN: readonly (readonly [Scalars, readonly number[]])[] = [
  [{ topK: 1 }, [1]],
  [{ topK: 2 }, [1, 3, 5]],
  [{ topK: 4 }, [0, 1, 3, 5]],
  [{ topK: 5 }, [0, 1, 2, 3, 4, 5]],
  [{ topP: 1e-9 }, [1]],
  [{ topP: 0.41 }, [1, 3, 5]],
  [{ topP: 0.79 }, [1, 3, 5]],
  [{ topP: 0.81 }, [0, 1, 3, 5]],
  [{ topP: 0.999 }, [0, 1, 2, 3, 4, 5]],
  [{ minP: 1 }, [1]],
  [{ minP: 0.49 }, [1, 3, 5]],
  [{ minP: 0.24 }, [0, 1, 3, 5]],
  // Half of what top-k left, not half of all.
  [{ topK: 3, topP: 0.49 }, [1]],
  [{ topK: 3, topP: 0.51 }, [1, 3, 5]],
  [{ topK: 4, topP: 0.9, minP: 0.3 }, [1, 3, 5]],
];

/** Places the entries among others: the last folds of a vocabulary, far from each other. */
const STRIDE = 97;

/**
 * Checks for entries of known probabilities, some equally likely, which of them each filter keeps:
 * the kept mass, every token that 32 draws give, and its log-prob.
 *
 * @throws ContractError if one differs
 */
export async function checkKnownSets(device: Device, dtype: DType = 'f32'): Promise<void> {
  const [N, V] = [32, STRIDE * PARTS.length];
  const total = PARTS.reduce((sum, part) => sum + part, 0);
  // Where there is no entry the logit is −200: its probability is 0 in float32.
  const head = Float32Array.from({ length: V }, (_, j) =>
    j % STRIDE === STRIDE - 1 ? Math.log(PARTS[(j - STRIDE + 1) / STRIDE]) : -200,
  );
  const random = randomAt(1, 'known-sets');
  const inputs = {
    hidden: device.upload(dtype, [N, 1], new Float32Array(N).fill(1)),
    weight: device.upload(dtype, [V, 1], head),
    keys: device.upload(
      'i32',
      [N, 4],
      Int32Array.from({ length: 4 * N }, () => random.word() | 0),
    ),
  };
  // Rounded to 16 bits, ln 2 is off by 1e-3.
  const within = dtype === 'f32' || dtype === 'f64' ? 1e-5 : 1e-2;
  for (const [filters, kept] of KNOWN) {
    const where =
      `linearSampleTruncated on ${device.backend.name} (${dtype}) with ` +
      `${JSON.stringify(filters)} of probabilities ${PARTS.join(', ')} in ${total}:`;
    const drawn = device.forward(linearSampleTruncated, inputs, filters);
    const mass = kept.reduce((sum, i) => sum + PARTS[i], 0);
    const tokens = await device.read(drawn.tokens);
    const logprobs = await device.read(drawn.logprobs);
    const masses = await device.read(drawn.keptMass);
    const seen = new Set<number>();
    tokens.forEach((token, n) => {
      const entry = (token + 1) / STRIDE - 1;
      seen.add(entry);
      const expected = Math.log(PARTS[entry] / mass);
      if (!kept.includes(entry) || !(Math.abs(logprobs[n] - expected) < within)) {
        throw new ContractError(
          `${where} drew entry ${entry} with log-prob ${logprobs[n]}; expected one of ` +
            `${kept.join(', ')} with its own.`,
        );
      }
      if (!(Math.abs(masses[n] - mass / total) < within)) {
        throw new ContractError(
          `${where} the kept mass is ${masses[n]}, expected ${mass / total}.`,
        );
      }
    });
    // The rarest come with probability 1/20. With these keys 32 draws meet all of them.
    const missing = kept.filter((entry) => !seen.has(entry));
    if (missing.length > 0) {
      throw new ContractError(`${where} never drew ${missing.join(', ')}, which it keeps.`);
    }
    for (const array of Object.values(drawn)) device.free(array);
  }
  for (const array of Object.values(inputs)) device.free(array);
}
