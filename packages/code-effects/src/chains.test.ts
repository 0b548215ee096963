/**
 * Random chains of turns, flips, crops and new sizes: where the analysis says that pixels are from,
 * and where Python says. Those of Pillow and numpy run here; what OpenCV makes of its own stands in
 * a fixture, as the sandbox does not have it.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePython } from '@saccade/sandbox';
import { describe, expect, it } from 'vitest';
import { analyzeCode } from './analyze.ts';
import {
  CHAIN_HEIGHT,
  CHAIN_WIDTH,
  type Chain,
  chainDriver,
  type Observed,
  randomChain,
} from './chains.fixture.ts';
import { applyAffine } from './geometry.ts';

const environment = join(import.meta.dirname, '../../../../.cache/sandbox-venv');
const inputs = [{ name: 'image_clue_0', width: CHAIN_WIDTH, height: CHAIN_HEIGHT }];

/** Compares a chain, and gives how many points were. */
function compare({ code, stride }: Chain, { width, height, points }: Observed): number {
  const [use] = analyzeCode([{ turn: 0, code }], inputs, { shows: { results: ['result'] } });
  const shown = use?.shown.at(-1);
  expect(use?.raises, code).toBeUndefined();
  expect([shown?.width, shown?.height], code).toEqual([width, height]);
  const map = shown?.toCanonical;
  if (map === undefined) throw new Error(`The analysis lost the image:\n${code}`);
  const [a, b, , d, e] = map;
  // Sides of a pixel of the result in the image that was given.
  const pixel = Math.max(1, Math.abs(a) + Math.abs(b), Math.abs(d) + Math.abs(e));
  const errors = points.map(([px, py, x, y]) => {
    const [u, v] = applyAffine(map, px + 0.5, py + 0.5);
    return Math.max(Math.abs(u - x), Math.abs(v - y));
  });
  errors.sort((one, other) => one - other);
  // At borders filters see only one side; numpy's steps take the first pixel of each.
  const most = 0.6 * pixel + (stride > 1 ? pixel : 0);
  expect(errors.at(-1) ?? 0, code).toBeLessThan(most);
  // Elsewhere only what a discrete filter bends of a line is left.
  if (stride === 1) expect(errors[errors.length >> 1] ?? 0, code).toBeLessThan(0.2 * pixel);
  return points.length;
}

describe('random chains', () => {
  it('of Pillow and numpy have their pixels where the analysis says', async () => {
    const { python } = await ensurePython(environment);
    const chains = (['pillow', 'numpy'] as const).flatMap((library) =>
      Array.from({ length: 200 }, (_, seed) => randomChain(library, seed)),
    );
    const { stdout, stderr } = spawnSync(python, ['-c', chainDriver], {
      input: JSON.stringify(chains.map(({ code }) => code)),
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    });
    expect(stderr).toBe('');
    const observed = JSON.parse(stdout) as readonly Observed[];
    const counts = chains.map((chain, index) => compare(chain, observed[index] as Observed));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(1200);
    // The first call makes the environment, which takes a minute.
  }, 300_000);

  it('of OpenCV have their pixels where the analysis says', () => {
    const path = join(import.meta.dirname, 'chains-opencv.fixture.json');
    const { chains } = JSON.parse(readFileSync(path, 'utf8')) as {
      readonly chains: readonly (Chain & Observed)[];
    };
    const counts = chains.map((chain) => compare(chain, chain));
    expect(chains.length).toBe(60);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(200);
  });
});
