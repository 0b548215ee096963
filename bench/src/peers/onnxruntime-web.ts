/// <reference types="@webgpu/types" preserve="true" />
/**
 * ONNX Runtime's WebGPU execution provider, in a page: forwards alone, inputs and results in GPU
 * buffers, so that nothing crosses to the processor while it is timed.
 */
import { decode } from '@saccade/core';
import { waitOn } from './device-faults.ts';
import { localPeer } from './local-peer.ts';
import { type OnnxFeed, onnxTask } from './onnx-recipes.ts';
import type { Peer } from './peer.ts';

interface Tensor {
  readonly type: string;
  getData(): Promise<Float32Array | Uint16Array>;
  dispose(): void;
}

interface Session {
  run(feeds: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>>;
  release(): Promise<void>;
}

interface OnnxRuntimeWeb {
  readonly env: {
    readonly versions: { readonly web?: string };
    readonly wasm: { wasmPaths?: string; numThreads?: number };
  };
  readonly InferenceSession: {
    create(model: Uint8Array, options: Readonly<Record<string, unknown>>): Promise<Session>;
  };
  readonly Tensor: {
    fromGpuBuffer(
      buffer: GPUBuffer,
      options: { readonly dataType: string; readonly dims: readonly number[] },
    ): Tensor;
  };
}

/** STORAGE | COPY_DST | COPY_SRC */
const BUFFER_USAGE = 0x80 | 0x08 | 0x04;

/**
 * @param folder  address of the package's `dist`
 * @param device  which it gets for itself
 */
export async function onnxRuntimeWebPeer(folder: string, device: GPUDevice): Promise<Peer> {
  const path = `${folder}/ort.webgpu.bundle.min.mjs`;
  const ort: OnnxRuntimeWeb = await import(/* @vite-ignore */ path);
  ort.env.wasm.wasmPaths = `${folder}/`;
  // More would need a page that is isolated from other origins; the GPU does the work.
  ort.env.wasm.numThreads = 1;
  const wait = waitOn('onnxruntime-web', device);
  const upload = ({ type, shape, data }: OnnxFeed) => {
    const size = Math.ceil(data.byteLength / 16) * 16;
    const buffer = device.createBuffer({ size, usage: BUFFER_USAGE });
    const bytes = new Uint8Array(size);
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    device.queue.writeBuffer(buffer, 0, bytes);
    return { buffer, tensor: ort.Tensor.fromGpuBuffer(buffer, { dataType: type, dims: shape }) };
  };
  return localPeer({
    name: 'onnxruntime-web',
    dispose: () => device.destroy(),
    version: `${ort.env.versions.web ?? 'unknown'}, WebGPU`,
    dtypes: ['f32', 'f16'],
    async prepare(task) {
      const made = onnxTask(task, 'webgpu');
      if (typeof made === 'string') return made;
      const session = await ort.InferenceSession.create(made.model, {
        executionProviders: [{ name: 'webgpu', device }],
        preferredOutputLocation: 'gpu-buffer',
        // Ops that the GPU lacks would run on the CPU and be timed as if they had not.
        extra: { session: { disable_cpu_ep_fallback: '1' } },
      });
      const uploads = Object.entries(made.feeds).map(
        ([name, feed]) => [name, upload(feed)] as const,
      );
      const feeds = Object.fromEntries(uploads.map(([name, { tensor }]) => [name, tensor]));
      return {
        async run() {
          const results = await session.run(feeds);
          for (const tensor of Object.values(results)) tensor.dispose();
        },
        wait,
        async read() {
          const results: Record<string, ArrayLike<number>> = {};
          for (const [name, tensor] of Object.entries(await session.run(feeds))) {
            const data = await tensor.getData();
            results[name] = tensor.type === 'float16' ? decode(halves(data), 'f16') : data;
            tensor.dispose();
          }
          await wait();
          return results;
        },
        async dispose() {
          await session.release();
          for (const [, { buffer }] of uploads) buffer.destroy();
        },
      };
    },
  });
}

/** The bits, where a browser gives a Float16Array. */
const halves = ({ buffer, byteOffset, length }: Float32Array | Uint16Array): Uint16Array =>
  new Uint16Array(buffer, byteOffset, length);
