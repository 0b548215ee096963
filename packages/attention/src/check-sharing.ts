/** Checks of packing: a shared prefix equals a repeated one, and trees do not affect each other. */
import { type DType, randomAt } from '@saccade/core';
import type { Device, DeviceArray, Scalars } from '@saccade/ops';
import { ContractError, expectSame, firstDifference, relativeError } from '@saccade/ops/contract';
import { attention } from './ops/catalog.ts';
import { planSharedPrefix, planTree, planVarlen, type SegmentPlan } from './segments.ts';

/** Tokens of a prompt and of the responses that continue it, and heads. */
export interface PrefixShape {
  readonly prefix: number;
  readonly responses: readonly number[];
  readonly H: number;
  readonly G: number;
  readonly D: number;
  readonly window?: number;
}

type Arrays = Readonly<Record<'q' | 'k' | 'v' | 'out', Float64Array>>;
type Results = Readonly<Record<string, ArrayLike<number>>>;

/** Root mean square below which a gradient counts as 0. */
const GRADIENT_FLOOR = 0.1;

/**
 * Checks that a prefix computed once for a group gives every output, and every log-sum-exp, the
 * bits that it has with the prefix repeated before each response.
 *
 * @throws ContractError  if one differs in a bit
 */
export async function checkSharedPrefix(
  device: Device,
  shape: PrefixShape,
  seed: number,
  dtype: DType = 'f32',
): Promise<void> {
  const { H, D } = shape;
  const group = layOut(shape, seed);
  const { rowOf, T } = group;
  const shared = await run(device, group.shared, group.arrays, shape, dtype, 'forward');
  const repeated = await run(device, group.repeated, group.copies, shape, dtype, 'forward');
  const where = describe(device, shape, seed, dtype);
  expectSame(`${where}: out`, repeated.out, repeat(shared.out, rowOf, H * D));
  for (let h = 0; h < H; h++) {
    const got = Array.from(repeated.lse).slice(h * rowOf.length, (h + 1) * rowOf.length);
    const expected = rowOf.map((row) => shared.lse[h * T + row]);
    expectSame(`${where}: lse of head ${h}`, got, expected);
  }
}

/**
 * Checks that the gradients of a shared prefix, its keys and values included, are the sums of those
 * of its repetitions.
 *
 * @throws ContractError  if they are further apart than the order of sums explains
 */
export async function checkSharedPrefixGradients(
  device: Device,
  shape: PrefixShape,
  seed: number,
  dtype: DType = 'f32',
): Promise<void> {
  const { H, G, D } = shape;
  const group = layOut(shape, seed);
  const { rowOf, T } = group;
  const shared = await run(device, group.shared, group.arrays, shape, dtype, 'backward');
  const repeated = await run(device, group.repeated, group.copies, shape, dtype, 'backward');
  // In float32 the two differ by the order of sums alone; 16-bit storage rounds each repetition.
  const tolerance = dtype === 'f32' ? 2e-6 : (attention.gradTolerance?.[dtype] ?? 0);
  for (const [name, width] of [
    ['q', H * D],
    ['k', G * D],
    ['v', G * D],
  ] as const) {
    const summed = new Float64Array(T * width);
    rowOf.forEach((row, t) => {
      for (let i = 0; i < width; i++) summed[row * width + i] += repeated[name][t * width + i];
    });
    const error = relativeError(shared[name], summed, GRADIENT_FLOOR);
    if (error <= tolerance) continue;
    throw new ContractError(
      `${describe(device, shape, seed, dtype)}: the gradient of ${name} differs from the sum over the ` +
        `repeated prefix by ${error.toExponential(2)}, tolerance ${tolerance}. Let a key collect ` +
        'from every sequence that continues it.',
    );
  }
}

/**
 * Checks that NaN in one tree of a packed row reaches no output and no gradient of another.
 *
 * @throws ContractError  if one of them changes in a bit
 */
export async function checkNaNStaysInItsTree(
  device: Device,
  scalars: Scalars,
  seed: number,
  dtype: DType = 'f32',
): Promise<void> {
  const plan = planTree([
    { length: 20, children: [{ length: 9 }, { length: 40 }] },
    { length: 30 },
    { length: 15, children: [{ length: 5 }] },
  ]);
  const [start, end] = [69, 99];
  const [T, heads] = [plan.tokenCount, { H: 2, G: 1, D: 8, ...scalars }];
  const clean = draw(T, heads, seed);
  const poisoned: Arrays = {
    q: clean.q.slice(),
    k: clean.k.slice(),
    v: clean.v.slice(),
    out: clean.out.slice(),
  };
  for (const values of Object.values(poisoned)) {
    const width = values.length / T;
    values.fill(Number.NaN, start * width, end * width);
  }
  const expected = await run(device, plan, clean, heads, dtype, 'backward');
  const got = await run(device, plan, poisoned, heads, dtype, 'backward');
  for (const name of ['out', 'q', 'k', 'v']) {
    const width = expected[name].length / T;
    const others = (values: ArrayLike<number>): number[] =>
      Array.from(values).filter((_, i) => i < start * width || i >= end * width);
    const at = firstDifference(others(got[name]), others(expected[name]));
    if (at < 0) continue;
    const token = Math.floor(at / width);
    throw new ContractError(
      `attention on ${device.backend.name} (${JSON.stringify(scalars)}; ${dtype}, seed ${seed}): ` +
        `NaN in tokens ${start} to ${end - 1} changes ${name === 'out' ? '' : 'the gradient of '}` +
        `${name} of token ${token < start ? token : token + end - start}, which is of another ` +
        'tree. Leave out what a query does not see, instead of giving it a weight of 0.',
    );
  }
}

interface Heads {
  readonly H: number;
  readonly G: number;
  readonly D: number;
  readonly window?: number;
  readonly causal?: number;
}

/** The same group twice: the prefix once, and before every response. */
function layOut(shape: PrefixShape, seed: number) {
  const { prefix, responses, H, G, D } = shape;
  const shared = planSharedPrefix({ prefixLength: prefix, responseLengths: responses });
  const repeated = planVarlen(responses.map((length) => prefix + length));
  // Row t of the repeated layout is row rowOf[t] of the shared one.
  const rowOf: number[] = [];
  let start = prefix;
  for (const length of responses) {
    for (let t = 0; t < prefix; t++) rowOf.push(t);
    for (let t = 0; t < length; t++) rowOf.push(start + t);
    start += length;
  }
  const arrays = draw(shared.tokenCount, shape, seed);
  const out = repeat(arrays.out, rowOf, H * D);
  // The prefix rows' own gradient counts once, not once per repetition.
  rowOf.forEach((row, t) => {
    if (row < prefix && t >= prefix) out.fill(0, t * H * D, (t + 1) * H * D);
  });
  const copies: Arrays = {
    q: repeat(arrays.q, rowOf, H * D),
    k: repeat(arrays.k, rowOf, G * D),
    v: repeat(arrays.v, rowOf, G * D),
    out,
  };
  return { shared, repeated, rowOf, arrays, copies, T: shared.tokenCount };
}

/** q, k, v and the gradient of out. */
function draw(T: number, { H, G, D }: Heads, seed: number): Arrays {
  const random = randomAt(seed, 'attention-sharing');
  const normals = (length: number): Float64Array =>
    Float64Array.from({ length }, () => random.normal());
  return {
    q: normals(T * H * D),
    k: normals(T * G * D),
    v: normals(T * G * D),
    out: normals(T * H * D),
  };
}

function repeat(rows: ArrayLike<number>, rowOf: readonly number[], width: number): Float64Array {
  const copies = new Float64Array(rowOf.length * width);
  rowOf.forEach((row, t) => {
    for (let i = 0; i < width; i++) copies[t * width + i] = rows[row * width + i];
  });
  return copies;
}

/** Outputs, and with `backward` the gradients of q, k and v in their place. */
async function run(
  device: Device,
  plan: SegmentPlan,
  { q, k, v, out }: Arrays,
  { H, G, D, window = 0, causal = 1 }: Heads,
  dtype: DType,
  direction: 'forward' | 'backward',
): Promise<Results> {
  const T = plan.tokenCount;
  const given: DeviceArray[] = [];
  const upload = (width: number, values: Float64Array): DeviceArray => {
    const array = device.upload(dtype, [T, width, D], values);
    given.push(array);
    return array;
  };
  const segments = device.upload('i32', [plan.segmentCount, 3], plan.segments);
  const inputs = { q: upload(H, q), k: upload(G, k), v: upload(G, v), segments };
  const scalars = { window, causal };
  const outputs = device.forward(attention, inputs, scalars);
  const gradients =
    direction === 'forward'
      ? {}
      : device.backward(attention, { out: upload(H, out) }, inputs, outputs, scalars);
  const results: Record<string, ArrayLike<number>> = {};
  for (const [name, array] of Object.entries({ ...outputs, ...gradients })) {
    results[name] = await device.read(array);
  }
  for (const array of [segments, ...given, ...Object.values({ ...outputs, ...gradients })]) {
    device.free(array);
  }
  return results;
}

function describe(device: Device, shape: PrefixShape, seed: number, dtype: DType): string {
  const { prefix, responses, H, G, D, window = 0 } = shape;
  return (
    `attention on ${device.backend.name} (prefix ${prefix}, responses ${responses.join(', ')}, ` +
    `H ${H}, G ${G}, D ${D}, window ${window}; ${dtype}, seed ${seed})`
  );
}
