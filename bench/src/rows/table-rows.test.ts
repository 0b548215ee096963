import { openDevice, referenceBackend, resolveScalars, shapeOf } from '@saccade/ops';
import { expect, it } from 'vitest';
import { measureSharedPrefix } from '../group-packing.ts';
import { shortCase } from '../prepared-case.ts';
import { drawRows } from '../report-table.ts';
import type { OpResult } from '../run-ops.ts';
import { HEADLINE_GROUP, headlineRows } from './headline.ts';
import { rowOf } from './table-row.ts';
import { setsOf, tableSets, titleOfGroup } from './table-rows.ts';

it('finds every headline shape among the bench cases, and every result its row', () => {
  const rows = headlineRows();
  expect(rows.length).toBeGreaterThan(4);
  const seconds = { median: 0.1, p20: 0.09, p80: 0.11, count: 9 };
  const results: OpResult[] = rows.flatMap(({ job }) =>
    job.passes.map((pass) => ({
      op: job.op.id,
      case: shortCase(job.opCase),
      pass,
      dtype: 'f32',
      seconds,
      cost: { flops: 1e9, bytes: 1e6 },
      workingSetBytes: 1e6,
      workspaceBytes: 3_889_562,
      accuracy: { error: 1e-7 },
      peers: [{ peer: 'torch', seconds, ratio: { ...seconds, isDecided: true }, difference: 0 }],
    })),
  );
  for (const result of results) expect(rowOf(result, rows)?.job.op.id).toBe(result.op);
  const text = drawRows(rows, results, []);
  for (const { title } of rows) expect(text).toContain(title);
  // 3 889 562 of 4 · 128 · 151 936 bytes.
  expect(text).toContain('3.89 MB, 5 % †');
  expect(text).toContain('fwd + bwd');
});

it('packs a group both ways and knows how many pairs sharing saves', async () => {
  const device = openDevice(referenceBackend());
  const shape = { prefix: 4, response: 1, group: 3, heads: { H: 1, G: 1, D: 2 } };
  const [result] = await measureSharedPrefix(device, shape, { rounds: 5, seconds: 0.01 });
  // Repeated: 3 · (5·6/2) = 45 pairs. Shared: 4·5/2 + 3 · (4 + 1) = 25.
  expect(result?.pairRatio).toBe(45 / 25);
  expect(result?.ratio.count).toBeGreaterThanOrEqual(5);
  expect(device.allocatedBytes()).toBe(0);
  device.dispose();
  const { prefix: P, response: R, group: G } = HEADLINE_GROUP;
  const exact = (G * (P + R) ** 2) / (P ** 2 + G * (2 * P * R + R ** 2));
  expect(exact).toBeCloseTo(1.92, 2);
});

it('has sets of rows whose cases their ops take, each found again by its result', () => {
  const sets = setsOf([...tableSets.keys()]);
  const rows = sets.flatMap(({ rows }) => rows());
  const titles = [
    ...rows.map(({ title }) => title),
    ...sets.flatMap(({ groups }) => groups.map(titleOfGroup)),
  ];
  expect(new Set(titles).size).toBe(titles.length);
  for (const row of rows) {
    const { op, opCase } = row.job;
    expect(op.check?.(opCase.dims), row.title).toBeUndefined();
    for (const [name, values] of Object.entries(opCase.indices ?? {})) {
      const operand = op.inputs[name];
      const length = operand && shapeOf(operand, opCase.dims).reduce((a, b) => a * b, 1);
      expect(values.length, `${row.title}: ${name}`).toBe(length);
    }
  }
  // Rows of one set have names of their own; a product may be in two.
  for (const { rows } of sets) {
    const own = rows();
    for (const row of own) {
      const { op, opCase } = row.job;
      expect(rowOf({ op: op.id, case: shortCase(opCase) } as OpResult, own)).toBe(row);
    }
  }
  expect(() => setsOf(['3b', '8b'])).toThrow(/no rows "8b".*headline, 3b, 7b/);
});

it('counts the work of windows, of caches, and of a prompt that rollouts share', () => {
  const [tower, layers] = setsOf(['vision', '3b']).map(({ rows }) => rows());
  const flops = (rows: typeof tower, words: string): number => {
    const { op, opCase } = rows?.find(({ title }) => title.includes(words))?.job ?? {};
    if (op === undefined || opCase === undefined) throw new Error(`no row "${words}"`);
    const { indices = {}, scalars } = opCase;
    return op.cost(opCase.dims, {
      bytesPerElement: 4,
      indices,
      scalars: resolveScalars(op, scalars),
    }).flops;
  };
  // 4,096 patches see all of them, or the 64 of their window.
  expect(flops(tower, 'whole') / flops(tower, 'windows')).toBe(64);
  expect(flops(layers, 'B32 S3000')).toBe(4 * 16 * 128 * 32 * 3000);
  expect(flops(layers, '4×8 rollouts')).toBe(flops(layers, 'B32 S3000'));
  expect(flops(layers, 'S4096')).toBe(4 * 16 * 128 * ((4096 * 4097) / 2));
});
