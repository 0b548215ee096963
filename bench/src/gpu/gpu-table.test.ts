/** The table's rows and peers, the same code as on a GPU: on the CPU, at tiny shapes. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cudaBackend } from '@saccade/backend-native';
import { MissingError } from '@saccade/core';
import { formOf, openDevice, referenceBackend, shapeOf } from '@saccade/ops';
import { drawInputs } from '@saccade/ops/contract';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runBesidePeers } from '../peers/beside-peers.ts';
import { startTorch, type TorchProcess } from '../peers/torch.ts';
import { prepareCase } from '../prepared-case.ts';
import { quickRandom } from '../quick-random.ts';
import { parseDeviceFacts, readDeviceFacts } from './device-facts.ts';
import { gpuLayerRows, gpuRows } from './gpu-rows.ts';
import { failedRow, type GpuRowResult, measureRows } from './gpu-table.ts';
import { Ledger } from './ledger.ts';
import { firstDifferentByte, measureRepeats } from './repeats.ts';
import { describeRow, drawGpuTable } from './report-gpu.ts';

// Emulated threads take turns on one processor.
vi.setConfig({ testTimeout: 300_000 });

/** An interpreter with torch: the one of the variable, of the parity tests, of the system. */
const python = [
  process.env.SACCADE_TORCH_PYTHON,
  fileURLToPath(new URL('../../../.cache/parity-venv/bin/python', import.meta.url)),
  'python3',
].find(
  (path) =>
    path !== undefined &&
    (existsSync(path) || !path.includes('/')) &&
    spawnSync(path, ['-c', 'import torch, numpy']).status === 0,
);
if (python === undefined) {
  console.info(
    'Peers in torch are not tested: no Python here has torch and numpy. ' +
      'Name one in SACCADE_TORCH_PYTHON.',
  );
}

describe('gpuRows', () => {
  it('has cases that their ops take, and goals for peers of known names', () => {
    const sizes = ['full', 'medium', 'tiny'] as const;
    for (const rows of sizes.flatMap((size) => [gpuRows(size), gpuLayerRows(size)])) {
      expect(new Set(rows.map(({ title }) => title)).size).toBe(rows.length);
      for (const { job, peers } of rows) {
        const { op, opCase } = job;
        expect(op.check?.(opCase.dims)).toBeUndefined();
        for (const [name, values] of Object.entries(opCase.indices ?? {})) {
          const operand = op.inputs[name];
          const length = operand && shapeOf(operand, opCase.dims).reduce((a, b) => a * b, 1);
          expect(values.length, `${op.id} ${name}`).toBe(length);
        }
        for (const name of opCase.gradOf ?? []) {
          expect(formOf(op).differentiableOutputs).toContain(name);
        }
        expect(peers.length).toBeGreaterThan(0);
      }
    }
  });

  it('gives each rollout its prompt and its own keys, all of one length', () => {
    const { opCase } = gpuRows().at(-1)?.job ?? {};
    const { spans, spanOffsets } = opCase?.indices ?? {};
    const own = new Set<number>();
    for (let row = 0; row < 512; row++) {
      const at = spanOffsets?.[row] ?? Number.NaN;
      const [a, b, c, d] = Array.from({ length: 4 }, (_, i) => spans?.[2 * at + i] ?? Number.NaN);
      expect([b - a, d - c]).toEqual([2500, 500]);
      expect(a).toBe(Math.floor(row / 8) * 6500);
      own.add(c);
    }
    // Nobody's keys are another's, and together they are all that the cache has.
    expect(own.size).toBe(512);
    expect(opCase?.dims.C).toBe(64 * 2500 + 512 * 500);
  });

  it('says what it would measure', () => {
    const lines = gpuRows().map(describeRow).join('\n');
    expect(lines).toContain('GRPO attention, P2500 R500 G8, 28 heads to 4, D128: fwd + bwd');
    expect(lines).toContain('torch (cuBLAS) (forward ≥ 0.85)');
    expect(lines).toContain('forward ≥ 0.8, backward ≥ 0.7');
  });
});

const withPython = python === undefined ? describe.skip : describe;

withPython('peers in torch', () => {
  let torch: TorchProcess;
  beforeAll(async () => {
    torch = await startTorch(python as string, { threads: 1, limitSeconds: 120 });
  });
  afterAll(() => torch.close());

  const turns = { rounds: 5, seconds: 0.01 };

  /** Peers of a row beside the float64 reference, in float32. */
  const beside = async (row: number, variants: readonly string[], pass?: 'forward' | 'both') => {
    const found = gpuRows('tiny')[row];
    if (found === undefined) throw new Error(`There is no row ${row}.`);
    const { op, opCase, passes } = found.job;
    const device = openDevice(referenceBackend());
    const prepared = prepareCase(device, op, opCase, 'f32', pass ? [pass] : passes);
    const peers = variants.map((name) => torch.peer(name, name));
    const timed = passes[0] ?? 'both';
    const results = await runBesidePeers(device, prepared, pass ?? timed, peers, turns);
    prepared.dispose();
    device.dispose();
    return results.peers;
  };

  it('repeat a prompt for each response, and give the packed results and gradients', async () => {
    for (const row of [0, 2]) {
      const [flash] = await beside(row, ['flash']);
      expect(flash).toMatchObject({ difference: expect.any(Number), ratio: { count: 5 } });
      const difference = flash && 'difference' in flash ? flash.difference : Number.NaN;
      expect(difference).toBeLessThan(1e-5);
      expect(difference).toBeGreaterThan(0);
    }
  });

  it('mask a packed group in FlexAttention, which has no backward on a CPU', async () => {
    const [forward] = await beside(0, ['flex'], 'forward');
    expect(forward && 'difference' in forward ? forward.difference : 1).toBeLessThan(1e-5);
    expect(await beside(0, ['flex'])).toMatchObject([
      { missing: expect.stringMatching(/backward on CPU/) },
    ]);
  });

  it('have log-probabilities, entropies and their gradients', async () => {
    for (const pass of ['forward', 'both'] as const) {
      const [peer] = await beside(1, ['log-softmax'], pass);
      expect(peer && 'difference' in peer ? peer.difference : 1).toBeLessThan(1e-5);
    }
  });

  it('decode from caches of their own', async () => {
    const [peer] = await beside(5, ['own-caches']);
    expect(peer && 'difference' in peer ? peer.difference : 1).toBeLessThan(1e-5);
  });

  it('say which of them cannot run here, and the others continue', async () => {
    const [cudnn, flash] = await beside(3, ['cudnn', 'flash'], 'forward');
    expect(cudnn).toMatchObject({ missing: expect.stringMatching(/^fails: RuntimeError/) });
    expect(flash).toMatchObject({ seconds: { count: 5 } });
    expect(await beside(1, ['no-such'])).toMatchObject([
      { missing: expect.stringMatching(/no such op/) },
    ]);
  });
});

describe('measureRows', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'saccade-gpu-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const ledgerOf = (name: string, resume = false): Ledger<GpuRowResult> =>
    new Ledger({ folder, name, resume, failed: failedRow });
  const [product] = gpuRows('tiny').filter(({ title }) => title.startsWith('GEMM'));
  const options = {
    dtype: 'bf16' as const,
    hasGoals: true,
    seconds: 100,
    passSeconds: 0.01,
    rounds: 5,
  };

  it('measures ours without peers where they cannot be started or end, and continues', async () => {
    const device = openDevice(cudaBackend({ emulated: true }));
    const ledger = ledgerOf('table');
    const rows = [product, product && { ...product, title: 'again' }].flatMap((row) => row ?? []);
    let starts = 0;
    const openTorch = async (): Promise<TorchProcess | string> => {
      starts++;
      const peer = () => ({
        name: 'torch (cuBLAS)',
        version: '1',
        prepare: async () => Promise.reject(new Error('the process ended')),
        dispose: async () => {},
      });
      return { about: { version: '1' }, peer, hasEnded: () => false, close: async () => {} };
    };
    expect(await measureRows(device, rows, ledger, { ...options, openTorch })).toBe(true);
    expect(starts).toBe(2);
    for (const { failure, results } of ledger.entries) {
      expect(failure).toBe('the process ended');
      expect(results[0]?.seconds.median).toBeGreaterThan(0);
      expect(results[0]?.accuracy.error).toBeLessThan(6e-3);
    }
    // Rows that are there are not measured again.
    const resumed = ledgerOf('table', true);
    const none = async (): Promise<string> => Promise.reject(new Error('nothing is left to do'));
    expect(await measureRows(device, rows, resumed, { ...options, openTorch: none })).toBe(true);
    expect(resumed.entries.length).toBe(2);
    device.dispose();
  });

  it('starts a process again that has ended, and one of its own for what is compiled', async () => {
    const device = openDevice(cudaBackend({ emulated: true }));
    const ledger = ledgerOf('ended');
    const [first] = product?.peers ?? [];
    if (product === undefined || first === undefined) throw new Error('no rows');
    const compiled = { ...first, name: 'compiled', isCompiled: true } as const;
    const rows = ['one', 'two'].map((title) => ({ ...product, title, peers: [first, compiled] }));
    const started: { hasEnded: boolean; isClosed: boolean }[] = [];
    const openTorch = async (): Promise<TorchProcess> => {
      const state = { hasEnded: false, isClosed: false };
      started.push(state);
      const end = async (): Promise<never> => {
        // The second process is that of the compiled peer: the first continues.
        state.hasEnded = started.indexOf(state) === 1;
        throw new MissingError('python ended without an answer. It said:\nout of memory');
      };
      return {
        about: {},
        peer: (name) => ({ name, version: '1', prepare: end, dispose: async () => {} }),
        hasEnded: () => state.hasEnded,
        close: async () => {
          state.isClosed = true;
        },
      };
    };
    expect(await measureRows(device, rows, ledger, { ...options, openTorch })).toBe(true);
    expect(started.length).toBe(3);
    expect(started.every(({ isClosed }) => isClosed)).toBe(true);
    for (const { failure, results } of ledger.entries) {
      expect(failure).toBeUndefined();
      expect(results[0]?.peers).toEqual([
        { peer: first.name, missing: 'out of memory' },
        { peer: 'compiled', missing: 'out of memory' },
      ]);
    }
    device.dispose();
  });

  it.skipIf(python === undefined)('times a row beside torch in turns', async () => {
    const device = openDevice(cudaBackend({ emulated: true }));
    const ledger = ledgerOf('beside');
    const openTorch = () => startTorch(python as string, { threads: 1, limitSeconds: 60 });
    const rows = product === undefined ? [] : [product];
    expect(await measureRows(device, rows, ledger, { ...options, openTorch })).toBe(true);
    const [row] = ledger.entries;
    expect(row?.failure).toBeUndefined();
    expect(row?.results[0]?.peers).toMatchObject([
      { peer: 'torch (cuBLAS)', ratio: { count: 5 }, difference: expect.any(Number) },
    ]);
    expect(drawGpuTable(ledger.entries)).toMatch(/torch \(cuBLAS\).*0\.85×/);
    device.dispose();
  });

  it('repeats launches and compares every byte that they write', async () => {
    const device = openDevice(cudaBackend({ emulated: true }));
    const [group] = gpuRows('tiny');
    if (group === undefined) throw new Error('no rows');
    expect(await measureRepeats(device, group, 'bf16', 2)).toMatchObject({
      title: `${group.title}, bf16`,
      differences: [],
    });
    device.dispose();
    expect(firstDifferentByte(Uint8Array.of(1, 2, 3), Uint8Array.of(1, 9, 3))).toBe(1);
    expect(firstDifferentByte(Uint8Array.of(1, 2), Uint8Array.of(1, 2))).toBe(-1);
  });
});

it('draws goals that are met and missed, and names what is missing', () => {
  const seconds = { median: 0.01, p20: 0.009, p80: 0.011, count: 9 };
  const ratio = (median: number) => ({ ...seconds, median, isDecided: true });
  const row: GpuRowResult = {
    title: 'a row',
    goals: { fast: { forward: 2 }, slow: { forward: 2 } },
    results: [
      {
        op: 'gemm',
        case: '',
        pass: 'forward',
        dtype: 'bf16',
        seconds,
        cost: { flops: 1e12, bytes: 1e9 },
        workingSetBytes: 1,
        accuracy: { error: 0 },
        peers: [
          { peer: 'fast', seconds, ratio: ratio(1.5), difference: 0.1, note: 'in its own way' },
          { peer: 'slow', seconds, ratio: ratio(2.5), difference: Number.NaN },
          { peer: 'none', missing: 'is not here' },
        ],
      },
    ],
  };
  const text = drawGpuTable([row, failedRow('another', 'no time was left for it')]);
  expect(text).toMatch(/a row, bf16 +forward +10\.0 ms.* 100 +100 +fast.*1\.50×.*2× +NO/);
  expect(text).toMatch(/slow.*2\.50×.*2× +yes/);
  for (const note of [
    'a row, forward: fast: in its own way',
    'a row, forward: slow: its results are others and are not compared',
    'a row, forward: none: is not here',
    'another: no time was left for it',
  ]) {
    expect(text).toContain(note);
  }
});

it("reads the driver's tool, and says why it cannot", () => {
  const facts = parseDeviceFacts(
    'NVIDIA H200, 580.1, 345 MHz, 1980 MHz, 3201 MHz, 77 W, 700 W, 30',
  );
  expect(facts).toMatchObject({
    name: 'NVIDIA H200',
    driver_version: '580.1',
    'clocks.sm': '345 MHz',
  });
  expect(readDeviceFacts('/nowhere/nvidia-smi')).toMatchObject({
    unknown: expect.stringMatching(/ENOENT/),
  });
});

it('draws the same data for a row in every run', () => {
  const { op, opCase } = gpuRows('tiny')[4]?.job ?? {};
  if (op === undefined || opCase === undefined) throw new Error('no rows');
  const draw = () => drawInputs(op, opCase, quickRandom(1, 'bench', op.id));
  expect(draw()).toEqual(draw());
});
