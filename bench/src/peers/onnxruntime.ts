/**
 * ONNX Runtime on the CPU: forwards alone, each a graph of one or a few nodes made here.
 *
 * Weights are inputs as ours are, so it cannot arrange them in advance; nor do we.
 */
import { loadPackage } from './load-package.ts';
import { localPeer } from './local-peer.ts';
import { onnxTask } from './onnx-recipes.ts';
import type { Peer } from './peer.ts';

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

export async function onnxRuntimePeer(threads: number): Promise<Peer> {
  const { module: ort, version } = loadPackage<OnnxRuntime>('onnxruntime-node');
  return localPeer({
    name: 'onnxruntime',
    version: `${version}, ${threads} threads`,
    async prepare(task) {
      const made = onnxTask(task, 'cpu');
      if (typeof made === 'string') return made;
      const feeds = Object.fromEntries(
        Object.entries(made.feeds).map(([name, { type, shape, data }]) => [
          name,
          new ort.Tensor(type, data, shape),
        ]),
      );
      const session = await ort.InferenceSession.create(made.model, {
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
