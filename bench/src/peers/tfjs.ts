/// <reference types="@webgpu/types" preserve="true" />
/** TensorFlow.js, forwards alone: on WebAssembly with SIMD and one thread, or on WebGPU. */
import type { Dims, Scalars } from '@saccade/ops';
import { waitOn } from './device-faults.ts';
import { loadPackage } from './load-package.ts';
import { localPeer } from './local-peer.ts';
import type { Peer, PeerArray, PeerTask } from './peer.ts';

interface Tensor {
  data(): Promise<ArrayLike<number>>;
  dispose(): void;
}

interface TensorFlow {
  setBackend(name: string): Promise<boolean>;
  backend(): unknown;
  env(): { set(flag: string, value: boolean): void };
  tensor(data: unknown, shape: readonly number[], dtype: string): Tensor;
  transpose(x: Tensor, permutation: readonly number[]): Tensor;
  matMul(a: Tensor, b: Tensor, transposeA: boolean, transposeB: boolean): Tensor;
  add(a: Tensor, b: Tensor): Tensor;
  mul(a: Tensor, b: Tensor | number): Tensor;
  sigmoid(x: Tensor): Tensor;
  softmax(x: Tensor): Tensor;
  logSoftmax(x: Tensor): Tensor;
  gather(x: Tensor, indices: Tensor): Tensor;
  gatherND(x: Tensor, indices: Tensor): Tensor;
  tidy<T>(f: () => T): T;
}

/** The parts of the WebGPU backend of TensorFlow.js that give access to its queue. */
interface WebGpuBackend {
  readonly device: GPUDevice;
  ensureCommandEncoderReady(): void;
  endComputePassEncoder(): void;
  submitQueue(): void;
}

type Inputs = Readonly<Record<string, Tensor>>;

interface Recipe {
  /** The inputs as the library likes them best, made before anything is timed. */
  arrange?(inputs: Inputs, upload: (array: PeerArray) => Tensor): Inputs;
  readonly output: string;
  f(inputs: Inputs): Tensor;
  /** The result as ours lies; not timed. */
  restore?(result: Tensor): Tensor;
}

function recipeOf(tf: TensorFlow, { op, dims, scalars, inputs }: PeerTask): Recipe | string {
  const at = (i: Inputs, name: string): Tensor => i[name] as Tensor;
  switch (op) {
    case 'gemm':
      if ('b' in inputs) return 'has no composition with a bias written here';
      return { output: 'y', f: (i) => tf.matMul(at(i, 'x'), at(i, 'w'), false, true) };
    case 'add':
      return { output: 'y', f: (i) => tf.add(at(i, 'a'), at(i, 'b')) };
    case 'gatherRows':
      return { output: 'y', f: (i) => tf.gather(at(i, 'x'), at(i, 'index')) };
    case 'swiglu':
      return {
        output: 'y',
        f: (i) => tf.mul(tf.mul(at(i, 'gate'), tf.sigmoid(at(i, 'gate'))), at(i, 'up')),
      };
    case 'attention':
      return attentionRecipe(tf, dims, scalars);
    case 'linearLogprob': {
      if (scalars.temperature !== 1) return 'has temperature 1 in the composition written here';
      const targets = inputs.targets?.data as Int32Array;
      return {
        arrange: (i, upload) => {
          const data = Int32Array.from({ length: 2 * targets.length }, (_, at) =>
            at % 2 === 0 ? at / 2 : (targets[(at - 1) / 2] ?? 0),
          );
          return { ...i, at: upload({ dtype: 'i32', shape: [targets.length, 2], data }) };
        },
        output: 'logprobs',
        f: (i) => {
          const z = tf.matMul(at(i, 'hidden'), at(i, 'weight'), false, true);
          return tf.gatherND(tf.logSoftmax(z), at(i, 'at'));
        },
      };
    }
    default:
      return 'has no composition written here';
  }
}

/** Heads outermost and a mask that is added: what its matMul and softmax take without copies. */
function attentionRecipe(tf: TensorFlow, dims: Dims, scalars: Scalars): Recipe | string {
  const { T = 0, H, G, D = 0, S } = dims;
  if (H !== G || S !== 1 || (scalars.window ?? 0) !== 0) {
    return 'takes one sequence with as many key heads as query heads in the composition here';
  }
  const scale = scalars.scale || 1 / Math.sqrt(D);
  const isCausal = scalars.causal !== 0;
  const swap = (x: Tensor | undefined): Tensor => tf.transpose(x as Tensor, [1, 0, 2]);
  return {
    arrange: ({ q, k, v }, upload) => {
      const data = Float32Array.from({ length: T * T }, (_, i) =>
        i % T > Math.floor(i / T) ? -1e30 : 0,
      );
      const mask = isCausal ? { mask: upload({ dtype: 'f32', shape: [1, T, T], data }) } : {};
      return { q: swap(q), k: swap(k), v: swap(v), ...mask };
    },
    output: 'out',
    f: ({ q, k, v, mask }) => {
      const scores = tf.mul(tf.matMul(q as Tensor, k as Tensor, false, true), scale);
      const masked = mask === undefined ? scores : tf.add(scores, mask);
      return tf.matMul(tf.softmax(masked), v as Tensor, false, false);
    },
    restore: swap,
  };
}

/** TensorFlow.js with one of its backends, and how that is waited for. */
function peerOn(
  tf: TensorFlow,
  version: string,
  waiting: { wait?: () => Promise<void>; dispose?: () => void },
): Peer {
  const upload = ({ dtype, shape, data }: PeerArray): Tensor =>
    tf.tensor(data, shape, dtype === 'i32' ? 'int32' : 'float32');
  return localPeer({
    name: 'tfjs',
    version,
    ...(waiting.dispose && { dispose: waiting.dispose }),
    async prepare(task) {
      if (task.pass !== 'forward') return 'is measured forward only';
      const recipe = recipeOf(tf, task);
      if (typeof recipe === 'string') return recipe;
      const given = Object.fromEntries(
        Object.entries(task.inputs).map(([name, array]) => [name, upload(array)]),
      );
      const inputs = recipe.arrange?.(given, upload) ?? given;
      const call = (): Tensor => tf.tidy(() => recipe.f(inputs));
      return {
        run: () => call().dispose(),
        ...(waiting.wait && { wait: waiting.wait }),
        async read() {
          const result = call();
          const restored = recipe.restore?.(result) ?? result;
          const values = await restored.data();
          await waiting.wait?.();
          for (const tensor of new Set([result, restored])) tensor.dispose();
          return { [recipe.output]: values };
        },
        async dispose() {
          const all = [...Object.values(given), ...Object.values(inputs)];
          for (const tensor of new Set(all)) tensor.dispose();
        },
      };
    },
  });
}

/** On WebAssembly; its kernels have run when they return. */
export async function tfjsPeer(): Promise<Peer> {
  const { module: tf, version } = loadPackage<TensorFlow>('@tensorflow/tfjs-core');
  // Loading it registers the backend.
  loadPackage('@tensorflow/tfjs-backend-wasm');
  await tf.setBackend('wasm');
  return peerOn(tf, `${version}, WebAssembly, 1 thread`, {});
}

/** On the WebGPU of this process, which must stand in for a browser's before this is called. */
export async function tfjsWebGpuPeer(): Promise<Peer> {
  const { module: tf, version } = loadPackage<TensorFlow>('@tensorflow/tfjs-core');
  loadPackage('@tensorflow/tfjs-backend-webgpu');
  await tf.setBackend('webgpu');
  // Small arrays would be computed on the processor.
  tf.env().set('WEBGPU_CPU_FORWARD', false);
  const backend = tf.backend() as WebGpuBackend;
  const waitForQueue = waitOn('tfjs', backend.device);
  return peerOn(tf, `${version}, WebGPU`, {
    wait() {
      // As its own reads do before they wait.
      backend.ensureCommandEncoderReady();
      backend.endComputePassEncoder();
      backend.submitQueue();
      return waitForQueue();
    },
    dispose: () => backend.device.destroy(),
  });
}
