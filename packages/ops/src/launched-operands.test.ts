import type { DType } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import type { Direction } from './backend.ts';
import { openDevice } from './device.ts';
import { launchedOperands, refuseDtypes, storageOf } from './launched-operands.ts';
import type { Op, StorageForm } from './op.ts';
import { embedding, gemm } from './ops/catalog.ts';
import { referenceBackend } from './reference-backend.ts';

function refusal(op: Op, dtypes: readonly (DType | undefined)[], allowed: readonly StorageForm[]) {
  return refuseDtypes(launchedOperands(op, 'forward'), allowed, dtypes);
}

const formOf = (op: Op, direction: Direction, dtypes: readonly (DType | undefined)[]) =>
  storageOf(
    launchedOperands(op, direction),
    dtypes.map((dtype) => dtype && { dtype }),
  );

describe('the operands of a launch', () => {
  const ALL = ['f32', 'bf16', 'mixed'] as const;

  it('may be f32 with weights in bf16 where a kernel takes mixed storage', () => {
    expect(refusal(gemm, ['f32', 'bf16', 'bf16', 'f32'], ALL)).toBeUndefined();
    expect(refusal(gemm, ['f32', 'bf16', undefined, 'f32'], ALL)).toBeUndefined();
    expect(refusal(embedding, ['bf16', 'f32', 'i32', 'f32'], ALL)).toBeUndefined();
  });

  it.each<[string, Op, readonly (DType | undefined)[], readonly StorageForm[]]>([
    ['w is bf16, x is f32', gemm, ['f32', 'bf16', undefined, 'f32'], ['f32', 'bf16']],
    ['w is f32, x is bf16', gemm, ['bf16', 'f32', undefined, 'bf16'], ALL],
    ['w is f16, x is f32', gemm, ['f32', 'f16', undefined, 'f32'], ALL],
    ['b is f32, w is bf16', gemm, ['f32', 'bf16', 'f32', 'f32'], ALL],
    ['y is bf16, x is f32', gemm, ['f32', 'bf16', undefined, 'bf16'], ALL],
    ['x is f16; the kernel takes f32 or bf16', gemm, ['f16', 'f16', undefined, 'f16'], ALL],
  ])('are refused where %s', (message, op, dtypes, allowed) => {
    expect(refusal(op, dtypes, allowed)).toContain(message);
  });

  it('have one form', () => {
    expect(formOf(gemm, 'forward', ['f32', 'f32', undefined, 'f32'])).toBe('f32');
    expect(formOf(gemm, 'forward', ['bf16', 'bf16', undefined, 'bf16'])).toBe('bf16');
    expect(formOf(gemm, 'forward', ['f32', 'bf16', undefined, 'f32'])).toBe('mixed');
    const backward = ['f32', 'f32', 'bf16', undefined, 'f32', 'f32', 'f32'] as const;
    expect(formOf(gemm, 'backward', backward)).toBe('mixed');
    expect(formOf(embedding, 'forward', ['bf16', undefined, 'i32', 'bf16'])).toBe('bf16');
    expect(formOf(embedding, 'forward', ['bf16', 'f32', 'i32', 'f32'])).toBe('mixed');
  });
});

it('gives results the type of the activations, not of the weights', async () => {
  const device = openDevice(referenceBackend());
  const w = device.upload('bf16', [1, 2], [1, 2]);
  const x = device.upload('f32', [1, 2], [1 + 2 ** -20, 0]);
  const { y } = device.forward(gemm, { x, w });
  expect(y.view.dtype).toBe('f32');
  expect([...(await device.read(y))]).toEqual([1 + 2 ** -20]);
  const gradients = device.backward(gemm, { y }, { x, w }, { y });
  expect(gradients.w.view.dtype).toBe('f32');
  // No rows besides those of the table, but they say the type.
  const extra = device.alloc('f32', [0, 2]);
  const ids = device.upload('i32', [1], [0]);
  const rows = device.forward(embedding, { table: w, extra, ids }).y;
  expect(rows.view.dtype).toBe('f32');
  expect([...(await device.read(rows))]).toEqual([1, 2]);
  device.dispose();
});
