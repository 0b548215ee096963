import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareRuns, readResults } from './baseline.ts';
import { drawResults } from './report-ops.ts';
import type { OpResult } from './run-ops.ts';
import { drawTable } from './table.ts';
import { formatBytes, formatRange, formatSeconds, threeDigits } from './units.ts';

const result = (op: string, median: number, more: Partial<OpResult> = {}): OpResult => ({
  op,
  case: 'N8',
  pass: 'forward',
  dtype: 'f32',
  seconds: { median, p20: 0.9 * median, p80: 1.1 * median, count: 9 },
  cost: { flops: 1e9, bytes: 4e6 },
  workingSetBytes: 4e6,
  accuracy: { error: 2e-7 },
  ...more,
});

describe('compareRuns', () => {
  it('calls less than the spread a tie, and the rest faster or slower', () => {
    const now = [result('a', 1), result('b', 1), result('c', 1), result('d', 1)];
    const before = [result('a', 2), result('b', 1.05), result('c', 0.5)];
    expect(compareRuns(now, { results: before }, 8)).toEqual([
      { key: 'a N8 forward f32', ratio: 2, verdict: 'faster' },
      { key: 'b N8 forward f32', ratio: 1.05, verdict: 'tie' },
      { key: 'c N8 forward f32', ratio: 0.5, verdict: 'slower' },
    ]);
  });

  it('marks what is no tie, but wider than its difference', () => {
    const wide = { median: 0.8, p20: 0.5, p80: 0.88, count: 9 };
    const now = [result('a', 1), result('b', 1)];
    const before = [result('a', 0.8, { seconds: wide }), result('b', 3)];
    expect(compareRuns(now, { results: before }, 8)).toMatchObject([
      { verdict: 'slower', isUndecided: true },
      { verdict: 'faster' },
    ]);
  });

  it('compares nothing across passes and storage types', () => {
    const now = [result('a', 1)];
    for (const other of [{ pass: 'backward' }, { dtype: 'bf16' }] as const) {
      expect(compareRuns(now, { results: [result('a', 2, other)] }, 8)).toEqual([]);
    }
  });

  it('marks what short samples say, of this run or the one before', () => {
    const now = [result('a', 1), result('b', 1)];
    const results = [result('a', 2), result('b', 1)];
    const marks = (before: object, seconds: number) =>
      compareRuns(now, { results, ...before }, seconds).map(({ isUnsure }) => isUnsure === true);
    expect(marks({}, 8)).toEqual([false, false]);
    expect(marks({}, 0.05)).toEqual([true, false]);
    expect(marks({ measurementSeconds: 0.05 }, 8)).toEqual([true, false]);
  });
});

describe('readResults', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'saccade-bench-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const written = (text: string): string => {
    const path = join(folder, 'result.json');
    writeFileSync(path, text);
    return path;
  };

  it('reads what a run wrote', () => {
    const results = [result('a', 1)];
    expect(readResults(written(JSON.stringify({ results })))).toEqual({ results });
  });

  it('refuses what is none, and says what to pass', () => {
    for (const text of ['', 'null', '{}', '{"results":[{}]}']) {
      expect(() => readResults(written(text))).toThrow(/no result of a benchmark.*--json wrote/);
    }
    expect(() => readResults(join(folder, 'nowhere.json'))).toThrow(/ENOENT/);
  });
});

describe('drawResults', () => {
  it('shows how far shares of peaks in turns spread', () => {
    const sharesInTurns = { median: 0.82, p20: 0.79, p80: 0.85, count: 9 };
    const shares = { shareOfRoofline: 0.82, boundBy: 'compute' } as const;
    const text = drawResults([
      result('a', 1, { sharesInTurns, ...shares }),
      result('b', 1, shares),
    ]);
    expect(text).toMatch(/82 % C +79 % – 85 % /);
    expect(text).toMatch(/of the peak measured in turns with the case/);
    expect(drawResults([result('b', 1, shares)])).not.toContain('in turns');
  });

  it('shows medians, marks errors measured elsewhere and names what peers lack', () => {
    const ratio = { median: 1.5, p20: 1.4, p80: 1.6, count: 9, isDecided: true };
    const wide = { ...ratio, isDecided: false };
    const text = drawResults(
      [
        result('a', 0.002, {
          accuracy: { error: 3e-6, at: 'N2' },
          shareOfRoofline: 0.5,
          boundBy: 'memory',
          peers: [
            { peer: 'torch', seconds: ratio, ratio, difference: 0 },
            { peer: 'wide', seconds: ratio, ratio: wide, difference: 0 },
            { peer: 'web', seconds: ratio, ratio, difference: 0, where: 'a browser', ours: ratio },
            { peer: 'other', missing: 'has no such op' },
          ],
        }),
        result('b', 1),
      ],
      [{ key: 'a N8 forward f32', ratio: 2, verdict: 'faster' }],
    );
    expect(text).toContain('2.00 ms');
    expect(text).toContain('3e-6*');
    expect(text).toContain('  * a: measured at N2');
    expect(text).toContain('50 % M');
    expect(text).toContain('  1.50×');
    expect(text).toContain('≈ 1.50×');
    expect(text).toContain('≈ not decided: p20–p80 is wider than the difference from 1');
    expect(text).toContain('2.00× faster');
    expect(text).toContain('  web: both in a browser');
    expect(text).toContain('no a forward: other has no such op');
    expect(text.split('\n').find((line) => line.startsWith('b '))).toMatch(/new$/);
    const slower = {
      key: 'b N8 forward f32',
      ratio: 0.5,
      verdict: 'slower',
      isUnsure: true,
    } as const;
    const compared = drawResults([result('b', 1)], [slower]);
    expect(compared).toMatch(/2\.00× slower \?$/m);
    expect(compared).toContain('? less than');
    expect(compared).not.toContain('≈');
    const undecided = drawResults([result('b', 1)], [{ ...slower, isUndecided: true }]);
    expect(undecided).toMatch(/≈ 2\.00× slower \?$/m);
  });
});

it('drawTable stands numbers under each other at their end', () => {
  const columns = [{ title: 'op' }, { title: 'ms', align: 'right' as const }];
  expect(
    drawTable(columns, [
      ['gemm', '1'],
      ['add', '12.5'],
    ]),
  ).toBe(['op      ms', '────  ────', 'gemm     1', 'add   12.5'].join('\n'));
});

it('numbers keep three digits and the unit that fits', () => {
  expect([0.01234, 1.234, 12.34, 123.4, 1234].map(threeDigits)).toEqual([
    '0.0123',
    '1.23',
    '12.3',
    '123',
    '1234',
  ]);
  expect([1.5e-6, 2e-3, 3].map(formatSeconds)).toEqual(['1.50 µs', '2.00 ms', '3.00 s']);
  expect(formatRange(0.0009, 0.0011)).toBe('0.900–1.10 ms');
  expect([0, 999, 1500, 2.5e6, 3e9].map(formatBytes)).toEqual([
    '0 B',
    '999 B',
    '1.50 kB',
    '2.50 MB',
    '3.00 GB',
  ]);
  expect(threeDigits(Number.NaN)).toBe('–');
});
