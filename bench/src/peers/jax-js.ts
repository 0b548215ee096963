/** jax-js on WebAssembly: what is composed of its operations under `jit`, and gradients by `vjp`. */
import { loadPackage } from './load-package.ts';
import { localPeer } from './local-peer.ts';
import type { Peer, PeerArray, PeerTask } from './peer.ts';

/** An array that is owned: an operation uses it up, `ref` keeps it. */
interface JaxArray {
  readonly ref: JaxArray;
  mul(other: JaxArray): JaxArray;
  add(other: JaxArray): JaxArray;
  reshape(shape: readonly number[]): JaxArray;
  data(): Promise<ArrayLike<number>>;
  dispose(): void;
}

type JaxFunction = (...inputs: JaxArray[]) => JaxArray;
type JaxFunctions = (...inputs: JaxArray[]) => JaxArray[];

interface Jax {
  readonly numpy: {
    array(data: unknown, options: { readonly shape: readonly number[] }): JaxArray;
    matmul: JaxFunction;
    transpose: JaxFunction;
  };
  readonly nn: {
    silu: JaxFunction;
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
  jit<F>(f: F): F;
  vjp(f: JaxFunction, inputs: readonly JaxArray[]): [JaxArray, (dy: JaxArray) => JaxArray[]];
  blockUntilReady<T>(value: T): Promise<T>;
}

interface Recipe {
  /** Inputs the function takes, in its order; all have gradients. */
  readonly inputs: readonly string[];
  readonly output: string;
  readonly f: JaxFunction;
}

function recipeOf({ numpy, nn }: Jax, { op, dims, scalars, inputs }: PeerTask): Recipe | string {
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
        f: (x) => nn.gelu(x as JaxArray, { approximate: false }),
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
    default:
      return 'has no composition written here';
  }
}

export async function jaxJsPeer(): Promise<Peer> {
  const { module: jax, version } = loadPackage<Jax>('@jax-js/jax');
  await jax.init('wasm');
  jax.defaultDevice('wasm');
  return localPeer({
    name: 'jax-js',
    version: `${version}, WebAssembly`,
    async prepare(task) {
      const recipe = recipeOf(jax, task);
      if (typeof recipe === 'string') return recipe;
      const upload = ({ data, shape }: PeerArray): JaxArray => jax.numpy.array(data, { shape });
      const inputs = recipe.inputs.map((name) => upload(task.inputs[name] as PeerArray));
      const given = task.gradOutputs[recipe.output];
      if (task.pass !== 'forward' && given === undefined) return 'has nothing to differentiate';
      const gradient = given === undefined ? [] : [upload(given)];
      const forward: JaxFunctions = (...arrays) => [recipe.f(...arrays)];
      // The forward that reverse mode needs is a part of it: it cannot be kept from call to call.
      const backward: JaxFunctions = (...arrays) => {
        const [y, pull] = jax.vjp(recipe.f, arrays.slice(0, -1));
        y.dispose();
        return pull(arrays.at(-1) as JaxArray);
      };
      if (task.pass === 'backward') return 'has no backward without its forward';
      const f = jax.jit(task.pass === 'forward' ? forward : backward);
      const call = (): JaxArray[] => f(...[...inputs, ...gradient].map(({ ref }) => ref));
      const names = task.pass === 'forward' ? [recipe.output] : recipe.inputs;
      return {
        async run() {
          const results = await jax.blockUntilReady(call());
          for (const result of results) result.dispose();
        },
        async read() {
          const results: Record<string, ArrayLike<number>> = {};
          for (const [i, result] of call().entries()) {
            results[names[i] ?? ''] = await result.data();
          }
          return results;
        },
        async dispose() {
          for (const array of [...inputs, ...gradient]) array.dispose();
        },
      };
    },
  });
}
