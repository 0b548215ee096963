/** The addon without any op in mind: loading, refusing wrong launches, threads. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Addon,
  addonPath,
  libraryPath,
  loadAddon,
  platformOf,
  platformPackage,
  type Runtime,
} from '../index.js';

function open(): Addon {
  const loaded = loadAddon();
  if (!loaded.ok) throw new Error(loaded.detail);
  return loaded.addon;
}

/** The first of them: the portable one where it was built. */
const [isa = 'generic'] = open().usableInstructionSets();

describe('loadAddon', () => {
  it('opens the addon and names the instruction sets that were built, slowest first', () => {
    const names = open().usableInstructionSets();
    const all = ['generic', 'avx2', 'avx2vnni', 'avx512', 'avx512bf16', 'avx512amx'] as const;
    expect(names.length).toBeGreaterThan(0);
    expect(names).toEqual(all.filter((name) => names.includes(name)));
  });

  it('names the platform, and the packages of its addon and its CUDA kernels', () => {
    const platform = platformOf();
    expect(platform).toMatch(new RegExp(`^${process.platform}-${process.arch}(-gnu|-musl)?$`));
    if (platform === 'linux-x64-gnu') {
      expect(platformPackage()).toMatch(/^@saccade\/native-linux-x64-gnu@\d+\.\d+\.\d+$/);
      expect(platformPackage('cuda')).toMatch(/^@saccade\/native-linux-x64-cuda@/);
    }
    expect(platformPackage('cuda-emulated')).toBeUndefined();
    expect(libraryPath('cuda', '/somewhere/saccade.node')).toBe('/somewhere/saccade-cuda.so');
    expect(libraryPath('cuda-emulated')).toBe(
      join(dirname(process.env.SACCADE_ADDON ?? addonPath()), 'saccade-cuda-emulated.so'),
    );
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

  it('says that an addon has kernels for better processors alone', () => {
    const folder = mkdtempSync(join(tmpdir(), 'saccade-addon-'));
    const path = join(folder, 'saccade.cjs');
    writeFileSync(path, 'exports.usableInstructionSets = () => [];\n');
    const loaded = loadAddon(path);
    rmSync(folder, { recursive: true });
    expect(loaded).toMatchObject({ ok: false, reason: 'other-processor', path });
    expect(loaded.ok ? '' : loaded.detail).toMatch(/this processor lacks the instructions/);
  });
});

describe('Runtime', () => {
  let addon: Addon;
  let runtime: Runtime;
  beforeAll(() => {
    addon = open();
    runtime = new addon.Runtime(isa, 2, true);
  });
  afterAll(() => runtime.close());

  /** Launches the first kernel with one float32 input and one output of its shape. */
  const unary = (): number =>
    runtime.kernels().findIndex(({ signature }) => /^x\[N,D\]' -> y/.test(signature));
  const launch = (
    operands: readonly (readonly [id: number, offset: number, length: number])[],
    dims: readonly number[],
    kernel = unary(),
    storage: 0 | 1 = 0,
  ): void => {
    // One scalar: the exact GELU.
    runtime.arguments().set([...operands.flat(), ...dims, 0]);
    runtime.launch(kernel, false, storage, operands.length, dims.length, 1);
  };

  it('refuses instruction sets and thread counts it does not have', () => {
    expect(() => new addon.Runtime('mmx' as 'generic', 1, true)).toThrow(/'mmx' cannot run here/);
    expect(() => new addon.Runtime(isa, 0, true)).toThrow(/from 1 to 1024/);
    expect(() => new addon.Runtime(isa, 1.5, true)).toThrow(/from 1 to 1024/);
  });

  it('gives memory under an id, and takes it back once', () => {
    const memory = [1, 100, 4096].map((size) => runtime.allocate(size));
    expect(new Set(memory).size).toBe(3);
    for (const id of memory) runtime.release(id);
    for (const id of memory) expect(() => runtime.release(id)).toThrow(/not yet released/);
    expect(() => runtime.allocate(-1)).toThrow(/size in bytes/);
    expect(() => runtime.allocate(2 ** 52)).toThrow(/out of memory for 4503599627370496 bytes/);
  });

  it('copies bytes to memory and back, inside it only', async () => {
    const id = runtime.allocate(8);
    runtime.write(id, 0, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
    runtime.write(id, 4, Uint16Array.of(0x0a09));
    const bytes = new Uint8Array(await runtime.read(id, 2, 5));
    expect(bytes).toEqual(Uint8Array.of(3, 4, 9, 10, 7));
    const [many, none] = [new Uint8Array(9), new Uint8Array(0)];
    for (const wrong of [
      () => runtime.write(id, 0, many),
      () => runtime.write(id, 9, none),
      () => runtime.write(id, -1, none),
      () => runtime.write(1e9, 0, none),
      () => runtime.read(id, 1, 8),
      () => runtime.read(id, 0.5, 1),
      () => runtime.read(id, 0, Number.NaN),
      () => runtime.read(-1, 0, 1),
    ]) {
      expect(wrong).toThrow(/id of memory not yet released, and bytes that lie inside it/);
    }
    expect(() => runtime.write(id, 0, new ArrayBuffer(4) as never)).toThrow(/a typed array/);
    expect(await runtime.read(id, 8, 0)).toEqual(new ArrayBuffer(0));
  });

  it.each([true, false])('runs a launch that fits (queued: %s)', async (isQueued) => {
    const own = new addon.Runtime(isa, 2, isQueued);
    const [x, y] = [own.allocate(24), own.allocate(24)];
    own.write(x, 0, new Float32Array(6).fill(50));
    own.arguments().set([x, 0, 24, y, 0, 24, 2, 3, 0]);
    own.launch(unary(), false, 0, 2, 2, 1);
    const result = new Float32Array(await own.read(y, 0, 24));
    expect([...result]).toEqual([50, 50, 50, 50, 50, 50]);
    own.close();
  });

  it('counts the elements of a bf16 launch in two bytes', async () => {
    const [x, y] = [runtime.allocate(12), runtime.allocate(12)];
    const values = new Uint16Array(6).fill(0x4248);
    runtime.write(x, 0, values);
    const operands = [
      [x, 0, 12],
      [y, 0, 12],
    ] as const;
    launch(operands, [2, 3], unary(), 1);
    expect(new Uint16Array(await runtime.read(y, 0, 12))).toEqual(values);
    expect(() => launch(operands, [2, 3])).toThrow(/'x' needs 24 bytes.*got 12/);
  });

  it('answers wrong launches with an error that names the operand, and goes on working', () => {
    const [x, y, gone] = [24, 24, 24].map((size) => runtime.allocate(size)) as [
      number,
      number,
      number,
    ];
    runtime.release(gone);
    const fitX = [x, 0, 24] as const;
    const fitY = [y, 0, 24] as const;
    const wrong: readonly [() => void, RegExp][] = [
      [() => launch([fitX, fitY], [2, 4]), /operand 'x' needs 32 bytes.*got 24/],
      [() => launch([[x, 0, 28], fitY], [2, 3]), /operand 0 reaches beyond/],
      [() => launch([[x, -4, 24], fitY], [2, 3]), /operand 0 reaches beyond/],
      [() => launch([[x, Number.NaN, 24], fitY], [2, 3]), /operand 0 reaches beyond/],
      [
        () =>
          launch(
            [
              [x, 0, 4],
              [y, 13, 4],
            ],
            [1, 1],
          ),
        /'y' is not aligned/,
      ],
      [() => launch([[-1, 0, 0], fitY], [2, 3]), /operand 'x' is missing/],
      [() => launch([[gone, 0, 24], fitY], [2, 3]), /operand 0 is in no memory/],
      [() => launch([[1e9, 0, 24], fitY], [2, 3]), /operand 0 is in no memory/],
      [() => launch([[0.5, 0, 24], fitY], [2, 3]), /operand 0 is in no memory/],
      [() => launch([fitX], [2, 3]), /takes 2 operands, got 1/],
      [() => launch([fitX, fitX], [2, 3]), /'y' overlaps 'x'/],
      [() => launch([fitX, fitY], [2]), /takes 2 dims, got 1/],
      [() => launch([fitX, fitY], [-2, 3]), /non-negative integers/],
      [() => launch([fitX, fitY], [2 ** 46, 2 ** 46]), /more than 2\^46 elements/],
      [() => launch([fitX, fitY], [2, 3], 1000), /kernel 1000 does not exist/],
      [() => launch([fitX, fitY], [2, 3], -1), /does not exist/],
      [() => runtime.launch(unary(), false, 0, 2, 2, 1000), /three counts|at most 256/],
      [() => runtime.launch(unary(), false, 0, 100, 2, 0), /at most 256/],
      [() => (runtime.launch as () => void)(), /launch takes|Illegal invocation/],
      [() => (runtime.launch as () => void).call(runtime), /launch takes/],
    ];
    for (const [run, message] of wrong) expect(run).toThrow(message);
    expect(() => launch([fitX, fitY], [2, 3])).not.toThrow();
  });

  it('takes launches of nothing', () => {
    const id = runtime.allocate(0);
    expect(() =>
      launch(
        [
          [id, 0, 0],
          [id, 0, 0],
        ],
        [0, 3],
      ),
    ).not.toThrow();
  });

  it('runs every item exactly once, whatever the number of threads', () => {
    for (const threads of [1, 2, 3, 8]) {
      const pool = new addon.Runtime(isa, threads, true);
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

  it('measures peaks of computing and reading', () => {
    const isas = addon.usableInstructionSets();
    const rates = isas.map((isa) => {
      const pool = new addon.Runtime(isa, 1, true);
      const peaks = pool.probePeak(1 << 16);
      pool.close();
      return peaks;
    });
    for (const rate of rates.flatMap(({ f32, bf16, readBytes }) => [f32, bf16, readBytes])) {
      expect(rate).toBeGreaterThan(0);
      expect(rate).toBeLessThan(Number.POSITIVE_INFINITY);
    }
    expect(() => runtime.probePeak(0)).toThrow(/at least 1/);
  });

  it('says how much workspace the latest launch took', () => {
    const gemm = runtime.kernels().findIndex(({ id }) => id === 'gemm');
    const [M, N, K] = [64, 64, 256];
    const lengths = [M * K, N * K, M * N].map((length) => 4 * length);
    const ids = lengths.map((length) => runtime.allocate(length));
    const [x, w, y] = ids.map((id, i) => [id, 0, lengths[i] as number] as const);
    for (const [id, , length] of [x, w] as [number, 0, number][]) {
      runtime.write(id, 0, new Uint8Array(length));
    }
    const operands = [x, w, [-1, 0, 0], y] as (readonly [number, number, number])[];
    // Axes in order of first appearance: M, K, N.
    runtime.arguments().set([...operands.flat(), M, K, N]);
    runtime.launch(gemm, false, 0, 4, 3, 0);
    expect(runtime.workspaceBytes()).toBeGreaterThan(0);
    launch(
      [
        [ids[0] as number, 0, 24],
        [ids[2] as number, 0, 24],
      ],
      [2, 3],
    );
    expect(runtime.workspaceBytes()).toBe(0);
  });

  it('stops its threads when closed, and refuses work afterwards', () => {
    const pool = new addon.Runtime(isa, 4, true);
    pool.probeThreads(100, -1);
    pool.close();
    pool.close();
    expect(() => pool.kernels()).toThrow(/closed/);
  });
});
