/** Our ops as ONNX graphs of one or a few nodes, and what is fed to them. */
import type { DType } from '@saccade/core';
import type { Dims } from '@saccade/ops';
import { encodeOnnx, type OnnxElement, type OnnxNode, type OnnxTensorType } from './onnx-model.ts';
import type { PeerArray, PeerTask } from './peer.ts';

/** A model, and the inputs it takes with the shapes it sees them in. */
export interface OnnxTask {
  readonly model: Uint8Array;
  readonly feeds: Readonly<Record<string, OnnxFeed>>;
}

export interface OnnxFeed {
  readonly type: OnnxElement;
  readonly shape: readonly number[];
  readonly data: PeerArray['data'];
}

export type OnnxProvider = 'cpu' | 'webgpu';

/** The model of a task, or why there is none. */
export function onnxTask(task: PeerTask, provider: OnnxProvider): OnnxTask | string {
  if (task.pass !== 'forward') return 'has no backward';
  const recipe = recipeOf(task, provider);
  if (typeof recipe === 'string') return recipe;
  const used = new Set(recipe.nodes.flatMap(({ inputs }) => inputs));
  const inputs: OnnxTensorType[] = [];
  const feeds: Record<string, OnnxFeed> = {};
  for (const [name, { dtype, shape, data }] of Object.entries(task.inputs)) {
    if (!used.has(name)) continue;
    const type = elementOf(dtype);
    const seen = recipe.shapes?.[name] ?? shape;
    inputs.push({ name, type, shape: seen });
    feeds[name] = { type, shape: seen, data };
  }
  const outputs = Object.entries(recipe.outputs).map(([name, shape]) => ({
    name,
    type: elementOf(task.dtype),
    shape,
  }));
  return { model: encodeOnnx({ nodes: recipe.nodes, inputs, outputs }), feeds };
}

const elementOf = (dtype: DType): OnnxElement =>
  dtype === 'i32' ? 'int32' : dtype === 'f16' ? 'float16' : 'float32';

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
function recipeOf(
  { op, dims, scalars, inputs }: PeerTask,
  provider: OnnxProvider,
): Recipe | string {
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
      if (scalars.tanh !== 0) return 'has no tanh approximation of GELU written here';
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
          ...(provider === 'cpu'
            ? [
                { ...node('LogSoftmax', ['z'], 'p'), ints: { axis: 1 } },
                { ...node('GatherElements', ['p', 'targets'], 'logprobs'), ints: { axis: 1 } },
              ]
            : [
                // It has no LogSoftmax; of a Softmax only what was gathered needs the logarithm.
                { ...node('Softmax', ['z'], 'p'), ints: { axis: 1 } },
                { ...node('GatherElements', ['p', 'targets'], 'at'), ints: { axis: 1 } },
                node('Log', ['at'], 'logprobs'),
              ]),
        ],
        outputs: { logprobs: [N, 1] },
        shapes: { targets: [N, 1] },
      };
    }
    default:
      return 'has no graph written here';
  }
}
