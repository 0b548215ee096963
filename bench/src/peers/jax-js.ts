/// <reference types="@webgpu/types" preserve="true" />
/** jax-js: what is composed of its operations under `jit`, and gradients by `vjp`. */
import { decode, UnsupportedError } from '@saccade/core';
import { waitOn } from './device-faults.ts';
import { loadPackage } from './load-package.ts';
import { type LocalTask, localPeer } from './local-peer.ts';
import type { Peer, PeerArray, PeerTask } from './peer.ts';

/** An array that is owned: an operation uses it up, `ref` keeps it. */
interface JaxArray {
  readonly ref: JaxArray;
  readonly size: number;
  mul(other: JaxArray): JaxArray;
  add(other: JaxArray): JaxArray;
  reshape(shape: readonly number[]): JaxArray;
  astype(dtype: 'float16' | 'float32'): JaxArray;
  data(): Promise<ArrayLike<number>>;
  dispose(): void;
}

type JaxFunction = (...inputs: JaxArray[]) => JaxArray;
type JaxFunctions = (...inputs: JaxArray[]) => JaxArray[];

interface Jax {
  readonly numpy: {
    array(
      data: unknown,
      options: { readonly shape: readonly number[]; readonly dtype: 'float32' | 'int32' },
    ): JaxArray;
    matmul: JaxFunction;
    transpose: JaxFunction;
    sum(x: JaxArray, axis: number): JaxArray;
    takeAlongAxis(x: JaxArray, indices: JaxArray, axis: number): JaxArray;
  };
  readonly nn: {
    silu: JaxFunction;
    logSoftmax(x: JaxArray, axis: number): JaxArray;
    oneHot(x: JaxArray, classes: number): JaxArray;
    gelu(x: JaxArray, options: { readonly approximate: boolean }): JaxArray;
    dotProductAttention(
      q: JaxArray,
      k: JaxArray,
      v: JaxArray,
      options: { readonly isCausal: boolean },
    ): JaxArray;
  };
  init(device: string): Promise<readonly string[]>;
  defaultDevice(device: string): string;
  /** Where the device is `webgpu`. */
  getWebGPUDevice(): GPUDevice;
  jit<F>(f: F): F;
  vjp(f: JaxFunction, inputs: readonly JaxArray[]): [JaxArray, (dy: JaxArray) => JaxArray[]];
  blockUntilReady<T>(value: T): Promise<T>;
}

interface Recipe {
  /** Inputs the function takes, in its order; all have gradients. */
  readonly inputs: readonly string[];
  /** Inputs it takes after them, which have none. */
  readonly indices?: readonly string[];
  readonly output: string;
  readonly f: JaxFunction;
}

function recipeOf(
  { numpy, nn }: Jax,
  { op, pass, dims, scalars, inputs }: PeerTask,
): Recipe | string {
  switch (op) {
    case 'gemm': {
      if ('b' in inputs) return 'has no composition with a bias written here';
      const f: JaxFunction = (x, w) => numpy.matmul(x as JaxArray, numpy.transpose(w as JaxArray));
      return { inputs: ['x', 'w'], output: 'y', f };
    }
    case 'add':
      return { inputs: ['a', 'b'], output: 'y', f: (a, b) => (a as JaxArray).add(b as JaxArray) };
    case 'swiglu':
      return {
        inputs: ['gate', 'up'],
        output: 'y',
        f: (gate, up) => nn.silu(gate as JaxArray).mul(up as JaxArray),
      };
    case 'gelu':
      return {
        inputs: ['x'],
        output: 'y',
        f: (x) => nn.gelu(x as JaxArray, { approximate: scalars.tanh !== 0 }),
      };
    case 'attention': {
      if (dims.S !== 1 || scalars.scale !== 0 || (scalars.window ?? 0) !== 0) {
        return 'takes one sequence and scales by 1/√D in dotProductAttention';
      }
      const options = { isCausal: scalars.causal !== 0 };
      const batch = (x: JaxArray | undefined, heads: number | undefined): JaxArray =>
        (x as JaxArray).reshape([1, dims.T ?? 0, heads ?? 0, dims.D ?? 0]);
      return {
        inputs: ['q', 'k', 'v'],
        output: 'out',
        f: (q, k, v) =>
          nn
            .dotProductAttention(batch(q, dims.H), batch(k, dims.G), batch(v, dims.G), options)
            .reshape([dims.T ?? 0, dims.H ?? 0, dims.D ?? 0]),
      };
    }
    case 'linearLogprob': {
      if (scalars.temperature !== 1) return 'has temperature 1 in the composition written here';
      const N = dims.N ?? 0;
      return {
        inputs: ['hidden', 'weight'],
        indices: ['targets'],
        output: 'logprobs',
        f: (hidden, weight, targets) => {
          const z = numpy.matmul(hidden as JaxArray, numpy.transpose(weight as JaxArray));
          if (pass === 'both') {
            // Its jit has no gradient of takeAlongAxis.
            const isTarget = nn.oneHot(targets as JaxArray, dims.V ?? 0);
            return numpy.sum(nn.logSoftmax(z, -1).mul(isTarget), -1);
          }
          const at = (targets as JaxArray).reshape([N, 1]);
          return numpy.takeAlongAxis(nn.logSoftmax(z, -1), at, 1).reshape([N]);
        },
      };
    }
    default:
      return 'has no composition written here';
  }
}

/**
 * @param device  `webgpu` takes `navigator.gpu`, which must be there before this is called
 * @throws UnsupportedError if the library cannot open the device
 */
export async function jaxJsPeer(device: 'wasm' | 'webgpu'): Promise<Peer> {
  offerIteratorHelpers();
  const { module: jax, version } = loadPackage<Jax>('@jax-js/jax');
  const opened = await jax.init(device);
  if (!opened.includes(device)) {
    throw new UnsupportedError(`jax-js finds no ${device} here. Pass a device it can open.`);
  }
  jax.defaultDevice(device);
  const isGpu = device === 'webgpu';
  const waitForQueue = isGpu ? waitOn('jax-js', jax.getWebGPUDevice()) : async () => {};
  const upload = ({ dtype, data, shape }: PeerArray): JaxArray => {
    if (dtype !== 'f16') {
      return jax.numpy.array(data, { shape, dtype: dtype === 'i32' ? 'int32' : 'float32' });
    }
    // Its arrays of half floats want a Float16Array, which few Nodes have: converted over there.
    const values = Float32Array.from(decode(data as Uint16Array, 'f16'));
    return jax.numpy.array(values, { shape, dtype: 'float32' }).astype('float16');
  };
  return localPeer({
    name: 'jax-js',
    version: `${version}, ${isGpu ? 'WebGPU' : 'WebAssembly'}`,
    ...(isGpu && {
      dtypes: ['f32', 'f16'] as const,
      dispose: () => jax.getWebGPUDevice().destroy(),
    }),
    async prepare(task) {
      const recipe = recipeOf(jax, task);
      if (typeof recipe === 'string') return recipe;
      if (task.pass === 'backward') return 'has no backward without its forward';
      const uploadAll = (names: readonly string[] = []): readonly JaxArray[] =>
        names.map((name) => upload(task.inputs[name] as PeerArray));
      const inputs = uploadAll(recipe.inputs);
      const indices = uploadAll(recipe.indices);
      const given = task.gradOutputs[recipe.output];
      if (task.pass === 'both' && given === undefined) return 'has nothing to differentiate';
      const gradient = given === undefined ? [] : [upload(given)];
      const arrays = [...gradient, ...inputs, ...indices];
      const forward: JaxFunctions = (...arrays) => [recipe.f(...arrays)];
      // The forward that reverse mode needs is a part of it: it cannot be kept from call to call.
      const both: JaxFunctions = (dy, ...arrays) => {
        const fixed = arrays.slice(inputs.length);
        const f: JaxFunction = (...inputs) => recipe.f(...inputs, ...fixed);
        const [y, pull] = jax.vjp(f, arrays.slice(0, inputs.length));
        y.dispose();
        return pull(dy as JaxArray);
      };
      const f = jax.jit(task.pass === 'forward' ? forward : both);
      const call = (): JaxArray[] => f(...arrays.map(({ ref }) => ref));
      const names = task.pass === 'forward' ? [recipe.output] : recipe.inputs;
      return {
        ...(isGpu ? queueOf(jax, call, waitForQueue) : { run: () => finish(jax, call()) }),
        async read() {
          const results: Record<string, ArrayLike<number>> = {};
          for (const [i, result] of call().entries()) {
            results[names[i] ?? ''] = await result.astype('float32').data();
          }
          await waitForQueue();
          return results;
        },
        async dispose() {
          for (const array of arrays) array.dispose();
        },
      };
    },
  });
}

/** Its einsum calls these on an iterator, which Node has from 22 on. */
const ITERATOR_HELPERS = {
  *map<T, U>(this: Iterable<T>, f: (value: T) => U): Generator<U> {
    for (const value of this) yield f(value);
  },
  *filter<T>(this: Iterable<T>, isWanted: (value: T) => boolean): Generator<T> {
    for (const value of this) if (isWanted(value)) yield value;
  },
};

function offerIteratorHelpers(): void {
  const prototype = Object.getPrototypeOf(Object.getPrototypeOf([].values()));
  for (const [name, value] of Object.entries(ITERATOR_HELPERS)) {
    if (name in prototype) continue;
    Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
  }
}

async function finish(jax: Jax, results: JaxArray[]): Promise<void> {
  await jax.blockUntilReady(results);
  for (const result of results) result.dispose();
}

/** Results wait for each other up to this many elements; then the queue is waited for. */
const MOST_HELD = 2 ** 27;

/** Calls that are queued; nothing of jax-js queues one, so its wait is begun and left alone. */
function queueOf(
  jax: Jax,
  call: () => JaxArray[],
  waitForQueue: () => Promise<void>,
): Required<Pick<LocalTask, 'run' | 'wait'>> {
  const pending: Promise<void>[] = [];
  let held = 0;
  const wait = async (): Promise<void> => {
    held = 0;
    await Promise.all(pending.splice(0));
    // jax-js waits for a copy of no bytes, which may complete before the work.
    await waitForQueue();
  };
  return {
    async run() {
      const results = call();
      for (const { size } of results) held += size;
      pending.push(finish(jax, results));
      if (held > MOST_HELD) await wait();
    },
    wait,
  };
}
