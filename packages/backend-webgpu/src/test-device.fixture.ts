/** Devices that this package's tests can inspect. */
import { availableFeatures, findAdapter, findGpu, openDawn } from './find-gpu.ts';

export interface TestDevice {
  readonly gpu: GPU;
  /** A device that counts what is made on it. */
  readonly wrapped: GPUDevice;
  counts(): { readonly buffers: number; readonly pipelines: number };
  /** Makes the next error scope of this kind find an error. */
  failNext(filter: GPUErrorFilter): void;
}

/**
 * Opens a separate device and watches it.
 *
 * @param limits  reported instead of the device's own
 */
export async function openTestDevice(
  limits: Readonly<Record<string, number>> = {},
): Promise<TestDevice> {
  const gpu = await findGpu();
  const adapter = await findAdapter(gpu, undefined);
  const requiredFeatures = availableFeatures(adapter.features) as GPUFeatureName[];
  const device = await adapter.requestDevice({ requiredFeatures });
  let [buffers, pipelines] = [0, 0];
  let failing: GPUErrorFilter | undefined;
  const scopes: GPUErrorFilter[] = [];
  const replaced: Partial<GPUDevice> = {
    limits: new Proxy(device.limits, {
      get: (target, name) => limits[String(name)] ?? Reflect.get(target, name, target),
    }),
    createBuffer: (descriptor) => {
      const buffer = device.createBuffer(descriptor);
      buffers++;
      const destroy = buffer.destroy.bind(buffer);
      buffer.destroy = () => {
        buffers--;
        destroy();
      };
      return buffer;
    },
    createComputePipeline: (descriptor) => {
      pipelines++;
      return device.createComputePipeline(descriptor);
    },
    pushErrorScope: (filter) => {
      scopes.push(filter);
      device.pushErrorScope(filter);
    },
    popErrorScope: async () => {
      const isFailing = scopes.pop() === failing;
      if (isFailing) failing = undefined;
      const found = await device.popErrorScope();
      return isFailing ? ({ message: 'as the test asked' } as GPUError) : found;
    },
  };
  const wrapped = new Proxy(device, {
    get(target, name) {
      const value: unknown = Reflect.get(name in replaced ? replaced : target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return {
    gpu,
    wrapped,
    counts: () => ({ buffers, pipelines }),
    failNext: (filter) => {
      failing = filter;
    },
  };
}

/**
 * Dawn's null device, which compiles and checks everything and runs nothing; absent without Dawn.
 */
export async function openNullGpu(flags: readonly string[] = []): Promise<GPU | undefined> {
  try {
    return await openDawn(['backend=null', ...flags]);
  } catch {
    return undefined;
  }
}
