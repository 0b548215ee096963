/** The addon without any op in mind: loading, refusing wrong launches, threads. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Addon, loadAddon, type Runtime } from '../index.js';

function open(): Addon {
  const loaded = loadAddon();
  if (!loaded.ok) throw new Error(loaded.detail);
  return loaded.addon;
}

describe('loadAddon', () => {
  it('opens the addon and names the instruction sets, generic first', () => {
    expect(open().usableInstructionSets()[0]).toBe('generic');
  });

  it('says that an addon is not built', () => {
    expect(loadAddon('/nowhere/saccade.node')).toMatchObject({ ok: false, reason: 'not-built' });
  });

  it('says that a file is not one for this platform', () => {
    const folder = mkdtempSync(join(tmpdir(), 'saccade-addon-'));
    const path = join(folder, 'saccade.node');
    writeFileSync(path, 'this is no shared library, but long enough to be read as one\n'.repeat(9));
    const loaded = loadAddon(path);
    rmSync(folder, { recursive: true });
    expect(loaded).toMatchObject({ ok: false, path });
    expect(loaded.ok ? '' : loaded.reason).toMatch(/wrong-platform|load-failed/);
  });
});

describe('Runtime', () => {
  let addon: Addon;
  let runtime: Runtime;
  beforeAll(() => {
    addon = open();
    runtime = new addon.Runtime('generic', 2);
  });
  afterAll(() => runtime.close());

  /** Launches the first kernel with one float32 input and one output of its shape. */
  const unary = (): { kernel: number; axes: number } => {
    const kernel = runtime
      .kernels()
      .findIndex(({ signature }) => /^x\[N,D\]' -> y/.test(signature));
    return { kernel, axes: 2 };
  };
  const none = new Float64Array(0);
  const launch = (
    operands: readonly (Uint8Array | undefined)[],
    ranges: readonly number[],
    dims: readonly number[],
    kernel = unary().kernel,
    backward = false,
  ): void =>
    runtime.launch(
      kernel,
      backward,
      operands,
      Float64Array.from(ranges),
      Float64Array.from(dims),
      none,
    );

  it('refuses instruction sets and thread counts it does not have', () => {
    expect(() => new addon.Runtime('mmx' as 'generic', 1)).toThrow(/'mmx' cannot run here/);
    expect(() => new addon.Runtime('generic', 0)).toThrow(/from 1 to 1024/);
    expect(() => new addon.Runtime('generic', 1.5)).toThrow(/from 1 to 1024/);
  });

  it('gives memory whose first byte is 64-byte aligned', () => {
    const memory = [1, 100, 4096].map((size) => runtime.allocate(size));
    expect(memory.map((bytes) => bytes.byteLength)).toEqual([1, 100, 4096]);
    // V8 aligns an ArrayBuffer's memory to 16 bytes at least; the offset makes up the rest.
    for (const bytes of memory) expect(bytes.byteOffset % 16).toBe(0);
    expect(() => runtime.allocate(-1)).toThrow(/size in bytes/);
  });

  it('runs a launch that fits', () => {
    const [x, y] = [runtime.allocate(24), runtime.allocate(24)];
    new Float32Array(x.buffer, x.byteOffset, 6).fill(50);
    launch([x, y], [0, 24, 0, 24], [2, 3]);
    expect([...new Float32Array(y.buffer, y.byteOffset, 6)]).toEqual([50, 50, 50, 50, 50, 50]);
  });

  it('answers wrong launches with an error that names the operand, and goes on working', () => {
    const [x, y] = [runtime.allocate(24), runtime.allocate(24)];
    const fit = [0, 24, 0, 24];
    const { kernel } = unary();
    expect(() => launch([x, y], fit, [2, 4])).toThrow(/operand 'x' needs 32 bytes.*got 24/);
    expect(() => launch([x, y], [0, 28, 0, 24], [2, 3])).toThrow(/operand 0 reaches beyond/);
    expect(() => launch([x, y], [-4, 24, 0, 24], [2, 3])).toThrow(/operand 0 reaches beyond/);
    expect(() => launch([x, y], [Number.NaN, 24, 0, 24], [2, 3])).toThrow(/operand 0/);
    expect(() => launch([x, y], [0, 12, 13, 4], [1, 1])).toThrow(/operand 'x'/);
    expect(() => launch([x, y], [0, 4, 13, 4], [1, 1])).toThrow(/'y' is not aligned/);
    expect(() => launch([undefined, y], fit, [2, 3])).toThrow(/operand 'x' is missing/);
    expect(() => launch([x], [0, 24], [2, 3])).toThrow(/takes 2 operands, got 1/);
    expect(() => launch([x, y], [0, 24], [2, 3])).toThrow(/an offset and a length per operand/);
    expect(() => launch([x, x], fit, [2, 3])).toThrow(/'y' overlaps 'x'/);
    expect(() => launch([x, y], fit, [2])).toThrow(/takes 2 dims, got 1/);
    expect(() => launch([x, y], fit, [-2, 3])).toThrow(/non-negative integers/);
    expect(() => launch([x, y], fit, [2 ** 46, 2 ** 46])).toThrow(/2\^46|more than/);
    expect(() => launch([x, y], fit, [2, 3], 1000)).toThrow(/kernel 1000 does not exist/);
    expect(() => launch([x, y], fit, [2, 3], -1)).toThrow(/does not exist/);
    expect(() => launch(['x' as unknown as Uint8Array, y], fit, [2, 3])).toThrow(/operand 0 must/);
    expect(() => runtime.launch(kernel, false, [x, y], none, none, none)).toThrow(TypeError);
    expect(() => (runtime.launch as () => void)()).toThrow(TypeError);
    expect(() => launch([x, y], fit, [2, 3])).not.toThrow();
  });

  it('takes launches of nothing', () => {
    const empty = runtime.allocate(0);
    expect(() => launch([empty, empty], [0, 0, 0, 0], [0, 3])).not.toThrow();
  });

  it('runs every item exactly once, whatever the number of threads', () => {
    for (const threads of [1, 2, 3, 8]) {
      const pool = new addon.Runtime('generic', threads);
      for (const items of [0, 1, 2, 7, 1000]) {
        expect([...pool.probeThreads(items, -1)]).toEqual(Array(items).fill(1));
      }
      pool.close();
    }
  });

  it('survives exceptions on any thread and forgets them', () => {
    for (let item = 0; item < 500; item += 13) {
      expect(() => runtime.probeThreads(500, item)).toThrow(`item ${item} failed`);
    }
    expect([...runtime.probeThreads(500, -1)]).toEqual(Array(500).fill(1));
  });

  it('stops its threads when closed, and refuses work afterwards', () => {
    const pool = new addon.Runtime('generic', 4);
    pool.probeThreads(100, -1);
    pool.close();
    pool.close();
    expect(() => pool.kernels()).toThrow(/closed/);
  });
});
