/**
 * ONNX Runtime on the CPU: forwards alone, each a graph of one or a few nodes made here.
 *
 * Weights are inputs as ours are, so it cannot arrange them in advance; nor do we.
 */
import type { Dims } from '@saccade/ops';
import { loadPackage } from './load-package.ts';
import { localPeer } from './local-peer.ts';
import { encodeOnnx, type OnnxNode, type OnnxTensorType } from './onnx-model.ts';
import type { Peer, PeerTask } from './peer.ts';

interface Tensor {
  readonly data: Float32Array;
}

interface Session {
  run(feeds: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>>;
  release(): Promise<void>;
}

interface OnnxRuntime {
  readonly InferenceSession: {
    create(model: Uint8Array, options: Readonly<Record<string, unknown>>): Promise<Session>;
  };
  readonly Tensor: new (type: string, data: unknown, shape: readonly number[]) => Tensor;
}

interface Recipe {
  readonly nodes: readonly OnnxNode[];
  readonly outputs: Readonly<Record<string, readonly number[]>>;
  /** Shapes of inputs where the graph sees them otherwise than we. */
  readonly shapes?: Readonly<Record<string, readonly number[]>>;
}

const node = (op: string, inputs: readonly string[], output: string): OnnxNode => ({
  op,
  inputs,
  outputs: [output],
});

/** The graph of a task, or why there is none. */
function recipeOf({ op, dims, scalars, inputs }: PeerTask): Recipe | string {
  const size = (axis: keyof Dims): number => dims[axis] ?? 0;
  const [N, D] = [size('N'), size('D')];
  switch (op) {
    case 'gemm': {
      const names = ['x', 'w', ...('b' in inputs ? ['b'] : [])];
      return {
        nodes: [{ ...node('Gemm', names, 'y'), ints: { transB: 1 } }],
        outputs: { y: [size('M'), N] },
      };
    }
    case 'add':
      return { nodes: [node('Add', ['a', 'b'], 'y')], outputs: { y: [N, D] } };
    case 'gelu':
      return { nodes: [node('Gelu', ['x'], 'y')], outputs: { y: [N, D] } };
    case 'gatherRows':
      return { nodes: [node('Gather', ['x', 'index'], 'y')], outputs: { y: [size('R'), D] } };
    case 'swiglu':
      return {
        nodes: [
          node('Sigmoid', ['gate'], 's'),
          node('Mul', ['gate', 's'], 'silu'),
          node('Mul', ['silu', 'up'], 'y'),
        ],
        outputs: { y: [N, D] },
      };
    case 'rmsNorm':
      return {
        nodes: [
          {
            ...node('SimplifiedLayerNormalization', ['x', 'w'], 'y'),
            ints: { axis: 1 },
            floats: { epsilon: scalars.eps ?? 0 },
          },
        ],
        outputs: { y: [N, D] },
      };
    case 'attention': {
      const [T, H] = [size('T'), size('H')];
      if (H !== size('G') || size('S') !== 1 || (scalars.window ?? 0) !== 0) {
        return 'takes one sequence with as many key heads as query heads in MultiHeadAttention';
      }
      const shape = [1, T, H * D];
      return {
        nodes: [
          {
            ...node('MultiHeadAttention', ['q', 'k', 'v'], 'out'),
            domain: 'com.microsoft',
            ints: { num_heads: H, unidirectional: scalars.causal ?? 0 },
            floats: { scale: scalars.scale || 1 / Math.sqrt(D) },
          },
        ],
        outputs: { out: shape },
        shapes: { q: shape, k: shape, v: shape },
      };
    }
    case 'linearLogprob': {
      if (scalars.temperature !== 1) return 'has temperature 1 in the graph written here';
      return {
        nodes: [
          { ...node('Gemm', ['hidden', 'weight'], 'z'), ints: { transB: 1 } },
          { ...node('LogSoftmax', ['z'], 'p'), ints: { axis: 1 } },
          { ...node('GatherElements', ['p', 'targets'], 'logprobs'), ints: { axis: 1 } },
        ],
        outputs: { logprobs: [N, 1] },
        shapes: { targets: [N, 1] },
      };
    }
    default:
      return 'has no graph written here';
  }
}

export async function onnxRuntimePeer(threads: number): Promise<Peer> {
  const { module: ort, version } = loadPackage<OnnxRuntime>('onnxruntime-node');
  return localPeer({
    name: 'onnxruntime',
    version: `${version}, ${threads} threads`,
    async prepare(task) {
      if (task.pass !== 'forward') return 'has no backward';
      const recipe = recipeOf(task);
      if (typeof recipe === 'string') return recipe;
      const used = new Set(recipe.nodes.flatMap(({ inputs }) => inputs));
      const types: OnnxTensorType[] = [];
      const feeds: Record<string, Tensor> = {};
      for (const [name, { dtype, shape, data }] of Object.entries(task.inputs)) {
        if (!used.has(name)) continue;
        const type = dtype === 'i32' ? 'int32' : 'float32';
        const seen = recipe.shapes?.[name] ?? shape;
        types.push({ name, type, shape: seen });
        feeds[name] = new ort.Tensor(type, data, seen);
      }
      const model = encodeOnnx({
        nodes: recipe.nodes,
        inputs: types,
        outputs: Object.entries(recipe.outputs).map(([name, shape]) => ({
          name,
          type: 'float32',
          shape,
        })),
      });
      const session = await ort.InferenceSession.create(model, {
        intraOpNumThreads: threads,
        interOpNumThreads: 1,
        executionMode: 'sequential',
        // Its threads would spin into the turns of others.
        extra: { session: { intra_op: { allow_spinning: '0' } } },
      });
      return {
        async run() {
          await session.run(feeds);
        },
        async read() {
          const results = await session.run(feeds);
          return Object.fromEntries(
            Object.entries(results).map(([name, { data }]) => [name, data]),
          );
        },
        dispose: () => session.release(),
      };
    },
  });
}
