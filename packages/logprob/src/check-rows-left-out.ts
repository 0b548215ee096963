/** Checks that rows without a target contribute nothing, whatever they hold. */
import { randomAt } from '@saccade/core';
import type { Device, StorageForm } from '@saccade/ops';
import { dtypeOf, expectSame } from '@saccade/ops/contract';
import { linearLogprob } from './ops/catalog.ts';

/**
 * Checks that rows with target −1 give 0 and get no gradient, and that their contents, even NaN,
 * change no bit of the other rows or of the weight's gradient.
 *
 * @throws ContractError  if one does
 */
export async function checkRowsLeftOut(
  device: Device,
  seed: number,
  dtype: StorageForm = 'f32',
): Promise<void> {
  const [N, D, V] = [37, 19, 70];
  const random = randomAt(seed, 'rows-left-out');
  const normals = (length: number): Float64Array =>
    Float64Array.from({ length }, () => random.normal());
  const rows = normals(N * D);
  const [head, weights, slopes] = [normals(V * D), normals(N), normals(N)];
  const isOut = (n: number): boolean => n % 3 === 1;
  const { hidden: hiddenOperand, weight: weightOperand } = linearLogprob.inputs;
  const run = async (out: (n: number) => boolean, held: number) => {
    const hidden = rows.map((value, i) => (out(Math.floor(i / D)) ? held : value));
    const targets = Array.from({ length: N }, (_, n) => (out(n) ? -1 : (n * 7) % V));
    const inputs = {
      hidden: device.upload(dtypeOf(hiddenOperand, dtype), [N, D], hidden),
      weight: device.upload(dtypeOf(weightOperand, dtype), [V, D], head),
      targets: device.upload('i32', [N], targets),
    };
    const outputs = device.forward(linearLogprob, inputs);
    const gradOutputs = {
      logprobs: device.upload('f32', [N], weights),
      entropy: device.upload('f32', [N], slopes),
    };
    const gradients = device.backward(linearLogprob, gradOutputs, inputs, outputs);
    const { logprobs, entropy, lse } = outputs;
    const read = { logprobs, entropy, lse, dHidden: gradients.hidden, dWeight: gradients.weight };
    const values: Record<string, Float64Array> = {};
    for (const [name, array] of Object.entries(read)) {
      values[name] = Float64Array.from(await device.read(array));
    }
    const used = [inputs, outputs, gradOutputs, gradients].flatMap((set) => Object.values(set));
    for (const array of used) device.free(array);
    return values;
  };
  const where = `linearLogprob on ${device.backend.name} (${dtype}, seed ${seed})`;
  const zero = await run(isOut, 0);
  const poisoned = await run(isOut, Number.NaN);
  for (const [name, values] of Object.entries(zero)) {
    expectSame(`${where}: ${name} beside rows of NaN that are left out`, poisoned[name], values);
  }
  for (let n = 0; n < N; n++) {
    if (!isOut(n)) continue;
    const { logprobs, entropy, lse, dHidden } = poisoned;
    const of = `${where}: row ${n}, left out,`;
    expectSame(`${of} outputs`, [logprobs[n], entropy[n], lse[n]], [0, 0, 0]);
    expectSame(`${of} gradient`, dHidden.slice(n * D, (n + 1) * D), new Float64Array(D));
  }
  for (const [name, values] of Object.entries(await run(() => true, Number.NaN))) {
    expectSame(`${where}: ${name} with all rows left out`, values, new Float64Array(values.length));
  }
}
