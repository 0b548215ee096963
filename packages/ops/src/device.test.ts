import { DtypeError, type RunEvent, ShapeError, StateError, UnsupportedError } from '@saccade/core';
import { afterEach, describe, expect, it } from 'vitest';
import type { Backend, BufferView } from './backend.ts';
import { type Device, openDevice } from './device.ts';
import type { Scalars } from './op.ts';
import {
  adamwStep,
  embedding,
  gatherRows,
  gemm,
  rotary,
  scatterRows,
  swiglu,
} from './ops/catalog.ts';
import { referenceBackend } from './reference-backend.ts';

let open: Device[] = [];
afterEach(() => {
  for (const device of open) device.dispose();
  open = [];
});
function onReference(): Device {
  const device = openDevice(referenceBackend());
  open.push(device);
  return device;
}
/** A float array of a shape; what it holds does not matter. */
function filled(device: Device, ...shape: number[]) {
  return device.upload('f32', shape, new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(1));
}

describe('a device refuses, before any work,', () => {
  const device = openDevice(referenceBackend());
  const x34 = filled(device, 3, 4);
  const before = device.allocatedBytes();
  afterEach(() => expect(device.allocatedBytes()).toBe(before));

  it('axes that disagree, naming both arrays', () => {
    const w = { ...x34, shape: [2, 6] };
    expect(() => device.forward(gemm, { x: x34, w })).toThrow(
      new ShapeError(
        'gemm: x is [3, 4], w is [2, 6]; axis K is 4 in x but 6 in w. ' +
          'Pass w as [N, K] with K = 4.',
      ),
    );
  });

  it('a wrong rank', () => {
    expect(() => device.forward(gemm, { x: { ...x34, shape: [12] }, w: x34 })).toThrow(
      'gemm: x must be [M, K], got [12]. Reshape x.',
    );
  });

  it('a missing and an unknown input', () => {
    // @ts-expect-error: the compiler knows it too
    expect(() => device.forward(gemm, { x: x34 })).toThrow(
      'gemm: input w is missing. Pass a [N, K] array.',
    );
    // @ts-expect-error: and that
    expect(() => device.forward(gemm, { x: x34, w: x34, bias: x34 })).toThrow(
      'gemm: there is no input "bias". Known: x, w, b.',
    );
  });

  it('a wrong element type', () => {
    const index = { ...x34, shape: [12] };
    expect(() => device.forward(gatherRows, { x: x34, index })).toThrow(
      new DtypeError('gatherRows: index must be i32, got f32. Upload it as i32.'),
    );
  });

  it('what only the op can know', () => {
    const x = { ...x34, shape: [3, 1, 4] };
    const table = { ...x34, shape: [3, 4] };
    expect(() => device.forward(rotary, { x, cos: table, sin: table })).toThrow(
      'rotary: the tables hold 4 angles for heads of 4; one angle turns two elements. ' +
        'Pass tables of [T, 2].',
    );
  });

  it('an unknown scalar', () => {
    const scalars: Scalars = { lr: 1 };
    // @ts-expect-error: the inputs are missing as well
    expect(() => device.forward(adamwStep, {}, scalars)).toThrow(
      'adamwStep: there is no scalar "lr". Known: learningRate, beta1,',
    );
  });

  it('a backward that does not exist, or with arrays of another call', () => {
    // @ts-expect-error: the inputs are missing as well
    expect(() => device.backward(scatterRows, {}, {}, {})).toThrow(ShapeError);
    const inputs = { gate: x34, up: x34 };
    // @ts-expect-error: the output is missing
    expect(() => device.backward(swiglu, {}, inputs, {})).toThrow(
      'swiglu: output y is missing. Pass the outputs of the forward to its backward.',
    );
    const y = { ...x34, shape: [4, 3] };
    expect(() => device.backward(swiglu, {}, inputs, { y })).toThrow(
      'swiglu: output y must be [3, 4], got [4, 3].',
    );
    expect(() => device.backward(swiglu, { y }, inputs, { y: x34 })).toThrow(
      'swiglu: the gradient of y must be [3, 4], got [4, 3].',
    );
    // @ts-expect-error: the name is gate
    expect(() => device.backward(swiglu, {}, inputs, { y: x34 }, {}, ['gates'])).toThrow(
      'swiglu: cannot give a gradient for "gates". ' +
        'The differentiable inputs of this call are: gate, up.',
    );
  });

  it('data of another length and shapes that are none', () => {
    expect(() => device.upload('f32', [2, 2], [1, 2, 3])).toThrow(
      'Data for [2, 2] must have length 4, got 3.',
    );
    expect(() => device.alloc('f32', [2, -1])).toThrow('Cannot allocate [2, -1]');
  });

  it('everything after it was disposed', async () => {
    const gone = onReference();
    const array = filled(gone, 2);
    gone.dispose();
    expect(() => gone.alloc('f32', [1])).toThrow(StateError);
    await expect(gone.read(array)).rejects.toThrow(/was disposed/);
  });
});

describe('a device', () => {
  it('computes, differentiates and leaves out what is absent', async () => {
    const device = onReference();
    const x = device.upload('f32', [1, 2], [1, 2]);
    const w = device.upload('f32', [2, 2], [3, 4, 5, 6]);
    const { y } = device.forward(gemm, { x, w });
    expect(y.shape).toEqual([1, 2]);
    expect(await device.read(y)).toEqual(Float32Array.of(11, 17));
    const dy = device.upload('f32', [1, 2], [1, 10]);
    const gradients = device.backward(gemm, { y: dy }, { x, w }, { y });
    expect(Object.keys(gradients)).toEqual(['x', 'w']);
    expect(await device.read(gradients.x)).toEqual(Float32Array.of(53, 64));
    const only = device.backward(gemm, { y: dy }, { x, w }, { y }, {}, ['w']);
    expect(Object.keys(only)).toEqual(['w']);
    expect(await device.read(only.w)).toEqual(Float32Array.of(1, 2, 10, 20));
    const zeros = device.backward(gemm, {}, { x, w }, { y });
    expect(await device.read(zeros.x)).toEqual(Float32Array.of(0, 0));
  });

  it('stores results as the inputs are, but gradients of weights in f32', async () => {
    const device = onReference();
    const x = device.upload('bf16', [2, 1], [1, 2 ** -8]);
    const w = device.upload('bf16', [1, 1], [3]);
    const { y } = device.forward(gemm, { x, w });
    expect(y.view.dtype).toBe('bf16');
    const dy = device.upload('bf16', [2, 1], [1, 1]);
    const gradients = device.backward(gemm, { y: dy }, { x, w }, { y });
    expect(gradients.x.view.dtype).toBe('bf16');
    expect(gradients.w.view.dtype).toBe('f32');
    // bf16 would make it 1.
    expect(await device.read(gradients.w)).toEqual(Float32Array.of(1 + 2 ** -8));
  });

  it('gives the input itself for an output in place', async () => {
    const device = onReference();
    const into = device.upload('f32', [3, 1], [1, 2, 3]);
    const x = device.upload('f32', [1, 1], [9]);
    const index = device.upload('i32', [1], [1]);
    const { into: written } = device.forward(scatterRows, { into, x, index });
    expect(written).toBe(into);
    expect(await device.read(into)).toEqual(Float32Array.of(1, 9, 3));
  });

  it('stores in the type asked for and reads back as floats', async () => {
    const device = onReference();
    const bf16 = device.upload('bf16', [2], [1 + 2 ** -9, 3]);
    expect(bf16.view.buffer.sizeBytes).toBe(4);
    expect(await device.read(bf16)).toEqual(Float32Array.of(1, 3));
    expect(await device.read(device.upload('f64', [1], [0.1]))).toEqual(Float64Array.of(0.1));
    expect(await device.read(device.upload('i32', [1], [-7]))).toEqual(Int32Array.of(-7));
    expect(() => device.upload('i32', [1], [0.5])).toThrow(DtypeError);
  });

  it('takes and gives elements as they are stored', async () => {
    const device = onReference();
    const bf16 = device.alloc('bf16', [3]);
    const patterns = Uint16Array.of(0x3f80, 0xc000, 0x7fc0);
    device.writeStored(bf16, patterns);
    expect(await device.readStored(bf16)).toEqual(patterns);
    expect(await device.read(bf16)).toEqual(Float32Array.of(1, -2, Number.NaN));
    expect(() => device.writeStored(bf16, Float32Array.of(1, 2, 3))).toThrow(DtypeError);
    expect(() => device.writeStored(bf16, Uint16Array.of(1))).toThrow(ShapeError);
  });

  it('hands arrays of length 0 through', async () => {
    const device = onReference();
    const table = device.upload('f32', [2, 1], [1, 2]);
    const ids = device.upload('i32', [0], []);
    const { y } = device.forward(embedding, { table, ids });
    expect(y.shape).toEqual([0, 1]);
    expect(await device.read(y)).toEqual(new Float32Array(0));
  });

  it('gives back all memory', () => {
    const device = onReference();
    const arrays = [filled(device, 3, 4), filled(device, 2)];
    expect(device.allocatedBytes()).toBe(56);
    for (const array of arrays) device.free(array);
    expect(device.allocatedBytes()).toBe(0);
  });
});

/** A backend without gemm, whose reads take a moment as on a real device. */
function withoutGemm(): Backend {
  const backend = referenceBackend();
  const read = backend.read.bind(backend);
  backend.read = async (view: BufferView) => {
    const data = await read(view);
    await new Promise((resolve) => setTimeout(resolve, 2));
    return data;
  };
  const supports = backend.supports.bind(backend);
  backend.supports = (op, ...rest) =>
    op.id === 'gemm' ? 'there is no gemm kernel.' : supports(op, ...rest);
  return backend;
}

describe('an op the backend lacks', () => {
  it('is an error in strict mode, which is the default', () => {
    const device = openDevice(withoutGemm(), { fallback: referenceBackend() });
    open.push(device);
    const x = filled(device, 1, 1);
    expect(() => device.forward(gemm, { x, w: x })).toThrow(
      new UnsupportedError(
        'gemm: backend reference cannot run the forward: there is no gemm kernel. ' +
          'Use another backend, or open the device with strict: false and a fallback.',
      ),
    );
  });

  it('runs elsewhere in the order of the calls, and says so once', async () => {
    const events: RunEvent[] = [];
    const fallback = referenceBackend();
    const device = openDevice(withoutGemm(), {
      strict: false,
      fallback,
      onEvent: (event) => events.push(event),
    });
    open.push(device);
    const x = device.upload('f32', [1, 2], [1, 2]);
    const w = device.upload('f32', [2, 2], [3, 4, 5, 6]);
    const { y } = device.forward(gemm, { x, w });
    const { y: z } = device.forward(gemm, { x: y, w });
    const { y: gated } = device.forward(swiglu, { gate: z, up: z });
    // All three were called with the first values: what follows must not reach back.
    device.write(x, [100, 100]);
    device.free(w);
    const gradients = device.backward(swiglu, { y: gated }, { gate: z, up: z }, { y: gated });
    expect(await device.read(y)).toEqual(Float32Array.of(11, 17));
    expect(await device.read(z)).toEqual(Float32Array.of(101, 157));
    expect(await device.read(gated)).toEqual(Float32Array.of(101 ** 2, 157 ** 2));
    expect((await device.read(gradients.up))[0]).toBeCloseTo(101 ** 3, -1);
    expect(await device.read(x)).toEqual(Float32Array.of(100, 100));
    expect(events).toEqual([
      {
        kind: 'fallback',
        op: 'gemm',
        from: 'reference',
        to: 'reference',
        reason: 'there is no gemm kernel.',
      },
    ]);
    expect(fallback.allocatedBytes()).toBe(0);
  });

  it('reports what went wrong elsewhere at the next wait', async () => {
    const fallback = referenceBackend();
    fallback.dispatch = () => {
      throw new Error('the other device is on fire');
    };
    const device = openDevice(withoutGemm(), { strict: false, fallback });
    open.push(device);
    const x = filled(device, 1, 1);
    device.forward(gemm, { x, w: x });
    await expect(device.synchronize()).rejects.toThrow('the other device is on fire');
    expect(fallback.allocatedBytes()).toBe(0);
  });
});

describe('the reference backend', () => {
  it('refuses buffers that were freed and views that do not fit', async () => {
    const backend = referenceBackend();
    const buffer = backend.alloc(8);
    const view: BufferView = { buffer, offsetBytes: 4, dtype: 'f32', length: 2 };
    await expect(backend.read(view)).rejects.toThrow('does not fit a buffer of 8 bytes');
    backend.free(buffer);
    expect(() => backend.write({ ...view, length: 1 }, Float32Array.of(1))).toThrow(StateError);
    expect(() => backend.free(buffer)).toThrow(StateError);
  });
});
