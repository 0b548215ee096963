/** TensorFlow.js on WebAssembly with SIMD; in Node it has one thread. Forwards alone. */
import { loadPackage } from './load-package.ts';
import { localPeer } from './local-peer.ts';
import type { Peer, PeerTask } from './peer.ts';

interface Tensor {
  data(): Promise<ArrayLike<number>>;
  dispose(): void;
}

interface TensorFlow {
  setBackend(name: string): Promise<boolean>;
  tensor(data: unknown, shape: readonly number[], dtype: string): Tensor;
  matMul(a: Tensor, b: Tensor, transposeA: boolean, transposeB: boolean): Tensor;
  add(a: Tensor, b: Tensor): Tensor;
  mul(a: Tensor, b: Tensor): Tensor;
  sigmoid(x: Tensor): Tensor;
  gather(x: Tensor, indices: Tensor): Tensor;
  tidy<T>(f: () => T): T;
}

type Inputs = Readonly<Record<string, Tensor>>;

function recipeOf(tf: TensorFlow, { op, inputs }: PeerTask): ((i: Inputs) => Tensor) | string {
  const at = (i: Inputs, name: string): Tensor => i[name] as Tensor;
  switch (op) {
    case 'gemm':
      if ('b' in inputs) return 'has no composition with a bias written here';
      return (i) => tf.matMul(at(i, 'x'), at(i, 'w'), false, true);
    case 'add':
      return (i) => tf.add(at(i, 'a'), at(i, 'b'));
    case 'gatherRows':
      return (i) => tf.gather(at(i, 'x'), at(i, 'index'));
    case 'swiglu':
      return (i) =>
        tf.tidy(() => tf.mul(tf.mul(at(i, 'gate'), tf.sigmoid(at(i, 'gate'))), at(i, 'up')));
    default:
      return 'has no composition written here';
  }
}

export async function tfjsPeer(): Promise<Peer> {
  const { module: tf, version } = loadPackage<TensorFlow>('@tensorflow/tfjs-core');
  // Loading it registers the backend.
  loadPackage('@tensorflow/tfjs-backend-wasm');
  await tf.setBackend('wasm');
  return localPeer({
    name: 'tfjs',
    version: `${version}, WebAssembly, 1 thread`,
    async prepare(task) {
      if (task.pass !== 'forward') return 'is measured forward only';
      const f = recipeOf(tf, task);
      if (typeof f === 'string') return f;
      const inputs = Object.fromEntries(
        Object.entries(task.inputs).map(([name, { dtype, shape, data }]) => [
          name,
          tf.tensor(data, shape, dtype === 'i32' ? 'int32' : 'float32'),
        ]),
      );
      return {
        // The kernels of this backend have run when they return.
        async run() {
          f(inputs).dispose();
        },
        async read() {
          const y = f(inputs);
          const values = await y.data();
          y.dispose();
          return { y: values };
        },
        async dispose() {
          for (const tensor of Object.values(inputs)) tensor.dispose();
        },
      };
    },
  });
}
