import { openDevice, referenceBackend } from '@saccade/ops';
import { expect, it } from 'vitest';
import { measureSharedPrefix } from './group-packing.ts';
import { HEADLINE_GROUP, headlineOf, headlines } from './headline.ts';
import { shortCase } from './prepared-case.ts';
import { drawHeadlines } from './report-headline.ts';
import type { OpResult } from './run-ops.ts';

it('finds every headline shape among the bench cases, and every result its row', () => {
  const rows = headlines();
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
  for (const result of results) expect(headlineOf(result, rows)?.job.op.id).toBe(result.op);
  const text = drawHeadlines(rows, results, []);
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
