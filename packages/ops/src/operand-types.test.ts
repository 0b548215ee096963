/** What the compiler knows of a call; `tsc -p tsconfig.tests.json` checks it, running does the rest. */
import { afterAll, describe, expect, expectTypeOf, it } from 'vitest';
import {
  type DeviceArray,
  defineOp,
  embedding,
  FLOATS,
  gemm,
  type Op,
  openDevice,
  ops,
  referenceBackend,
  rmsNorm,
} from './index.ts';

const device = openDevice(referenceBackend());
afterAll(() => device.dispose());
const x = device.upload('f32', [1, 2], [1, 2]);
const w = device.upload('f32', [2, 2], [1, 0, 0, 1]);
const scale = device.upload('f32', [2], [1, 1]);

describe('forward', () => {
  it('returns the outputs that the op declares', () => {
    const outputs = device.forward(gemm, { x, w });
    expectTypeOf(outputs).toEqualTypeOf<{ y: DeviceArray }>();
    // @ts-expect-error: gemm has no output z
    expect(outputs.z).toBeUndefined();
  });

  it('takes the inputs that the op declares, optional ones if given', () => {
    device.forward(gemm, { x, w, b: scale });
    device.forward(gemm, { x, w, b: undefined });
    // @ts-expect-error: gemm needs w
    expect(() => device.forward(gemm, { x })).toThrow(/w is missing/);
    // @ts-expect-error: gemm has b, no bias
    expect(() => device.forward(gemm, { x, w, bias: scale })).toThrow(/no input "bias"/);
  });

  it('takes the scalars that the op declares', () => {
    device.forward(rmsNorm, { x, w: scale }, { eps: 1e-6 });
    // @ts-expect-error: rmsNorm has eps, no epsilon
    expect(() => device.forward(rmsNorm, { x, w: scale }, { epsilon: 1 })).toThrow(/"epsilon"/);
    // @ts-expect-error: gemm has no scalars
    expect(() => device.forward(gemm, { x, w }, { eps: 1 })).toThrow(/"eps"/);
  });
});

describe('backward', () => {
  it('returns the gradients that the op defines, of optional inputs where they were given', () => {
    const { y } = device.forward(gemm, { x, w });
    const gradients = device.backward(gemm, { y }, { x, w }, { y });
    expectTypeOf(gradients.x).toEqualTypeOf<DeviceArray>();
    expectTypeOf(gradients.b).toEqualTypeOf<DeviceArray | undefined>();
    // @ts-expect-error: gemm has no output out
    expect(() => device.backward(gemm, { out: y }, { x, w }, { y })).toThrow(/"out"/);
  });

  it('returns only the gradients that are wanted', () => {
    const { y } = device.forward(gemm, { x, w });
    const gradients = device.backward(gemm, { y }, { x, w }, { y }, {}, ['w']);
    expectTypeOf(gradients).toEqualTypeOf<{ w: DeviceArray }>();
    expect(Object.keys(gradients)).toEqual(['w']);
    const table = device.upload('f32', [2, 2], [1, 2, 3, 4]);
    const ids = device.upload('i32', [1], [0]);
    const looked = device.forward(embedding, { table, ids });
    expect(() =>
      // @ts-expect-error: indices have no gradient
      device.backward(embedding, {}, { table, ids }, looked, {}, ['ids']),
    ).toThrow(/cannot give a gradient for "ids"/);
  });
});

describe('an op of unknown names', () => {
  it('has operands by any name, as before', () => {
    const op: Op = ops.get('gemm');
    const outputs = device.forward(op, { x, w }, {});
    expectTypeOf(outputs).toEqualTypeOf<Record<string, DeviceArray>>();
    const wanted: readonly string[] = ['x'];
    const gradients = device.backward(op, { y: outputs.y }, { x, w }, outputs, {}, wanted);
    expectTypeOf(gradients).toEqualTypeOf<Record<string, DeviceArray>>();
  });

  it('is what every op is, also one that was annotated as Op', () => {
    expectTypeOf(gemm).toExtend<Op>();
    const annotated: Op = {
      id: 'copy',
      inputs: { x: { axes: ['N'], dtypes: FLOATS } },
      outputs: { y: { axes: ['N'], dtypes: FLOATS } },
      scalars: {},
      forward: (inputs) => ({ y: inputs.x.slice() }),
      tolerance: { f32: 0 },
      cases: [],
      cost: () => ({ flops: 0, bytes: 0 }),
    };
    expectTypeOf(device.forward(annotated, { x: scale })).toEqualTypeOf<
      Record<string, DeviceArray>
    >();
    const operand = { axes: ['N'], dtypes: FLOATS } as const;
    const defined = defineOp({ ...annotated, inputs: { x: operand }, outputs: { y: operand } });
    // @ts-expect-error: the input is x
    expect(() => device.forward(defined, { y: scale })).toThrow(/no input "y"/);
  });
});
