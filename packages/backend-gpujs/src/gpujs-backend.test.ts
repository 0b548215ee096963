/** The gpu.js backend in Node, where gpu.js has no GPU: its WebAssembly and JavaScript modes. */
import { attention } from '@saccade/attention';
import { ConfigError, UnsupportedError } from '@saccade/core';
import { gemm, openDevice, referenceBackend } from '@saccade/ops';
import { listSkipped, type Subject, whyNot } from '@saccade/ops/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractChecks, openSubject } from './contract.fixture.ts';
import { gpujsBackend } from './index.ts';

describe.each(['auto', 'cpu'] as const)('in mode %s', (mode) => {
  const checks = contractChecks(6);
  let subject: Subject;
  beforeAll(async () => {
    subject = await openSubject({ mode });
    const skipped = listSkipped(checks, subject.device.backend);
    if (skipped !== undefined) console.warn(skipped);
  });
  afterAll(() => subject.device.dispose());

  for (const check of checks) {
    it(check.name, async (context) => {
      const reason = whyNot(check, subject.device.backend);
      if (reason !== undefined) context.skip(reason);
      await check.run(subject);
    });
  }
});

it('says what it computes with', async () => {
  const backend = await gpujsBackend();
  expect(backend.description).toBe('gpu.js, WebAssembly on the CPU, no GPU');
  backend.dispose();
  await expect(gpujsBackend({ mode: 'webgl2' })).rejects.toThrow(UnsupportedError);
  await expect(gpujsBackend({ mode: 'webgpu' as 'cpu' })).rejects.toThrow(ConfigError);
});

it('leaves what it has no kernel for to a fallback, visibly', async () => {
  const events: string[] = [];
  const device = openDevice(await gpujsBackend(), {
    strict: false,
    fallback: referenceBackend(),
    onEvent: (event) => events.push(JSON.stringify(event)),
  });
  const x = device.upload('f32', [1, 2], [1, 2]);
  const w = device.upload('f32', [2, 2], [1, 0, 0, 1]);
  expect([...(await device.read(device.forward(gemm, { x, w }).y))]).toEqual([1, 2]);
  expect(events).toHaveLength(1);
  expect(events[0]).toContain('forward of attention and linearLogprob only');
  device.dispose();
});

it('refuses in one sentence what is too large, and any other storage than float32', async () => {
  const backend = await gpujsBackend();
  const ask = (dims: Record<string, number>, dtype: 'f32' | 'bf16' = 'f32'): true | string =>
    backend.supports(attention, 'forward', [dtype, dtype, dtype, 'i32', dtype, 'f32'], {
      T: 8,
      H: 2,
      G: 1,
      D: 4,
      S: 1,
      P: 3,
      ...dims,
    });
  expect(ask({})).toBe(true);
  expect(ask({ T: 1025 })).toBe('T is 1025; gpu.js takes at most 1024 tokens here.');
  expect(ask({ D: 129 })).toBe('D is 129; gpu.js takes at most 128 here.');
  expect(ask({}, 'bf16')).toBe('q is bf16; the kernel takes f32.');
  backend.dispose();
});

it('refuses operands of other lengths than the dims', async () => {
  const backend = await gpujsBackend();
  const four = { buffer: backend.alloc(16), offsetBytes: 0, dtype: 'f32', length: 4 } as const;
  const segments = { ...four, dtype: 'i32', length: 3 } as const;
  const operands = [four, four, four, segments, four, four];
  const dims = { T: 2, H: 1, G: 1, D: 4, S: 1, P: 3 };
  const scalars = attention.scalars ?? {};
  const launch = { op: attention, direction: 'forward', operands, dims, scalars } as const;
  expect(() => backend.dispatch(launch)).toThrow(/q needs 32 bytes \(\[T, H, D\] of f32\), got 16/);
  backend.dispose();
});
