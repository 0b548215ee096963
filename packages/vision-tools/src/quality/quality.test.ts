import { join } from 'node:path';
import { ensurePython } from '@saccade/sandbox';
import { describe, expect, it } from 'vitest';
import { visionTools } from '../registry.ts';
import { measureQuality } from './measure-quality.ts';
import { boxedLines, boxOverlap, type QualityReport, textLikeness } from './quality.ts';
import { mergeRows, qualityTable } from './quality-table.ts';
import * as suites from './suites/catalog.ts';

const report: QualityReport = {
  tool: 'easyocr',
  backing: 'weights',
  arguments: ['task', 'region'],
  cases: 50,
  ms: { p50: 12.3, p95: 45.6 },
  cpuMs: { p50: 10, p95: 40 },
  scores: { lines: { mean: 0.98765, cases: 50 }, cells: { mean: 0.5, cases: 10 } },
  worst: [],
};
const row =
  '| `easyocr` | `task`, `region` | weights | 50 | 12 / 46 | 10 / 40 | lines 0.988, cells 0.500 (10) |';

describe('the measurement of quality', () => {
  it('measures a tool on cases whose truth is drawn', async () => {
    const { python } = await ensurePython(
      join(import.meta.dirname, '../../../../.cache/sandbox-venv'),
    );
    const folder = join(import.meta.dirname, '../../quality/python');
    const [measured] = await measureQuality([suites.stereoDepth], { python, folder, most: 4 });
    expect(measured).toMatchObject({ tool: 'stereo_depth', cases: 4, arguments: ['points'] });
    expect(measured?.scores['within 1 pixel']?.mean).toBeGreaterThan(0.8);
    expect(measured?.ms.p50).toBeGreaterThan(0);
  }, 300_000);

  it('has a suite only for tools that there are', () => {
    for (const { tool } of Object.values(suites)) expect(visionTools.has(tool)).toBe(true);
  });

  it('writes a row for each tool, and keeps the rows of others', () => {
    expect(qualityTable([report]).split('\n').at(-1)).toBe(row);
    const first = mergeRows('', [{ ...report, tool: 'zebra' }, report], 'a machine');
    expect(first).toMatch(/Measured on a machine\./);
    const second = mergeRows(first, [{ ...report, cases: 60 }], 'a machine');
    const tools = second.split('\n').filter((line) => line.startsWith('| `'));
    expect(tools.map((line) => line.split('|')[1]?.trim())).toEqual(['`easyocr`', '`zebra`']);
    expect(tools[0]).toContain('| 60 |');
  });

  it('compares boxes and texts', () => {
    expect(boxOverlap([0, 0, 10, 10], [5, 0, 15, 10])).toBeCloseTo(1 / 3, 9);
    expect(boxOverlap([0, 0, 1, 1], [2, 2, 3, 3])).toBe(0);
    // Three edits lead from kitten to sitting, which has seven letters.
    expect(textLikeness('kitten', 'sitting')).toBeCloseTo(4 / 7, 9);
    expect(boxedLines('Head:\na b [1, 2, 3, 4] | [5, 6, 7, 8] 0.5', ' | ')).toEqual([
      { text: 'a b', box: [1, 2, 3, 4] },
      { text: '', box: [5, 6, 7, 8] },
    ]);
  });
});
