/** Loads gpu.js on first use, and picks its mode. */
import { ConfigError, MissingError, messageOf, UnsupportedError } from '@saccade/core';
import type { GPU, Input } from 'gpu.js';

/** The modes of gpu.js that are offered. For WebGPU, use `backend-webgpu`. */
export type GpuJsMode = 'webgl2' | 'headlessgl' | 'webasm' | 'cpu';

export interface LoadedGpuJs {
  readonly gpu: GPU;
  /** An argument made of a flat array and its lengths along x, y and z. */
  readonly Input: typeof Input;
  readonly mode: GpuJsMode;
  /** The device, for people. */
  readonly description: string;
}

const LABELS: Readonly<Record<GpuJsMode, string>> = {
  webgl2: 'WebGL2',
  headlessgl: 'headless WebGL',
  webasm: 'WebAssembly on the CPU, no GPU',
  cpu: 'JavaScript on the CPU, no GPU',
};

/**
 * Opens gpu.js in a mode; `auto` tries WebGL2, headless WebGL, WebAssembly and JavaScript in order.
 *
 * @throws MissingError      if gpu.js cannot be loaded
 * @throws ConfigError       if there is no such mode
 * @throws UnsupportedError  if the mode cannot run here
 */
export async function loadGpuJs(wanted: GpuJsMode | 'auto'): Promise<LoadedGpuJs> {
  if (wanted !== 'auto' && !(wanted in LABELS)) {
    const known = ['auto', ...Object.keys(LABELS)].join(', ');
    throw new ConfigError('mode', `mode is "${wanted}". Pass one of ${known}.`);
  }
  const library = await importGpuJs();
  const canRun: Readonly<Record<GpuJsMode, boolean>> = {
    webgl2: library.GPU.isWebGL2Supported,
    headlessgl: library.GPU.isHeadlessGLSupported,
    webasm: library.GPU.isWebAssemblySupported,
    cpu: true,
  };
  const modes = Object.keys(LABELS) as GpuJsMode[];
  const mode = wanted === 'auto' ? (modes.find((name) => canRun[name]) ?? 'cpu') : wanted;
  if (!canRun[mode]) {
    const usable = modes.filter((name) => canRun[name]).join(', ');
    throw new UnsupportedError(
      `gpu.js cannot run its mode "${mode}" here. Pass auto or one of ${usable}.`,
    );
  }
  const gpu = new library.GPU({ mode });
  const renderer = rendererOf(tryOut(gpu, mode));
  return {
    gpu,
    Input: library.Input,
    mode,
    description: `gpu.js, ${LABELS[mode]}${renderer === undefined ? '' : `, ${renderer}`}`,
  };
}

type GpuJs = Pick<typeof import('gpu.js'), 'GPU' | 'Input'>;

/** gpu.js is CommonJS: bundlers and Node put its exports in different places. */
async function importGpuJs(): Promise<GpuJs> {
  // Its browser build puts its own class where browsers have WebGPU's interface `GPU`.
  const before = Object.getOwnPropertyDescriptor(globalThis, 'GPU');
  try {
    const module: GpuJs & { readonly default?: GpuJs } = await import('gpu.js');
    const { GPU, Input } = module.default ?? module;
    return { GPU, Input };
  } catch (error) {
    throw new MissingError(
      `gpu.js cannot be loaded: ${messageOf(error)}. Install the package gpu.js.`,
      { cause: error },
    );
  } finally {
    if (before === undefined) Reflect.deleteProperty(globalThis, 'GPU');
    else Object.defineProperty(globalThis, 'GPU', before);
  }
}

/**
 * Runs a one-line kernel and returns its WebGL context, if it has one. The kernel is kept, because
 * gpu.js releases the context with the last of its kernels.
 *
 * @throws UnsupportedError if another mode runs, or its numbers are not float32
 */
function tryOut(gpu: GPU, mode: GpuJsMode): unknown {
  const kernel = gpu.createKernel('function (x) { return x[this.thread.x] + 0.5; }', {
    output: [3],
    precision: 'single',
  });
  const x = Float32Array.of(1, 2 ** 23 - 1, -0.25);
  const sums = kernel(x as unknown as Parameters<typeof kernel>[0]) as ArrayLike<number>;
  const { precision, fallbackReason } = kernel as unknown as KernelState;
  const isExact = x.every((value, i) => sums[i] === value + 0.5);
  if (fallbackReason || precision !== 'single' || !isExact) {
    throw new UnsupportedError(
      `gpu.js does not compute in float32 in its mode "${mode}" here` +
        `${fallbackReason ? `: ${fallbackReason}` : '.'} Pass mode "cpu".`,
    );
  }
  return (kernel as { context?: unknown }).context;
}

/** Fields of a kernel that has run, which gpu.js's types lack. */
export interface KernelState {
  readonly precision?: string;
  /** The reason why it fell back to JavaScript, if it did. */
  readonly fallbackReason?: string | null;
}

/** The renderer that a WebGL context reports. */
function rendererOf(context: unknown): string | undefined {
  if (typeof context !== 'object' || context === null || !('getParameter' in context)) return;
  const gl = context as {
    getParameter(name: number): unknown;
    getExtension(name: string): { UNMASKED_RENDERER_WEBGL: number } | null;
    RENDERER: number;
  };
  const unmasked = gl.getExtension('WEBGL_debug_renderer_info');
  return String(gl.getParameter(unmasked?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER));
}
