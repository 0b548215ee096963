import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findMetric, metricCatalog } from './metrics.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

function sources(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(file))
    .map((file) => join(folder, file));
}

/** Names that code writes out in full, as properties of an object or of a row. */
function namesIn(file: string): readonly string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const heads =
    'eval|time|throughput|queue|staleness|schedule|failed|must_use|filter|ratio|approx_kl';
  const more = 'clip_ratio|value|sampling|completions|tool_calls|visual_tokens|turns|broken|audit';
  const name = new RegExp(`['\`]((?:${heads}|${more})/[a-z0-9_/]+)['\`]\\]?[:,)]`, 'g');
  return [...text.matchAll(name)].map(([, found]) => found ?? '');
}

describe('the catalog of metrics', () => {
  it('has every name once, with a sentence, a unit and a file that exists', () => {
    const names = metricCatalog.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, unit, meaning, source, stages } of metricCatalog) {
      expect(meaning, name).toMatch(/^(?:[A-Z]|\d).+\.$/);
      expect(unit, name).not.toBe('');
      expect(stages.length, name).toBeGreaterThan(0);
      expect(existsSync(join(root, source)), source).toBe(true);
    }
  });

  it('has every name that the code of a step writes out', () => {
    // Sums that are finished before they are logged.
    const inner = new Set(['ratio/weights', 'ratio/weights_squared', 'ratio/bin/']);
    const found = ['algorithms', 'eval', 'learner', 'loop', 'train']
      .flatMap((name) => sources(`packages/${name}/src`))
      .flatMap((file) => namesIn(file).map((name) => ({ file, name })))
      .filter(({ name }) => !inner.has(name));
    expect(found.length).toBeGreaterThan(40);
    const unknown = found.filter(({ name }) => findMetric(name) === undefined);
    expect(unknown).toEqual([]);
  });

  it('finds families by their parts, and exact names before them', () => {
    expect(findMetric('rewards/tool-use/mean')?.name).toBe('rewards/<term>/mean');
    expect(findMetric('staleness/mean')?.name).toBe('staleness/mean');
    expect(findMetric('staleness/3')?.name).toBe('staleness/<age>');
    expect(findMetric('rewards/a/b/mean')).toBeUndefined();
    expect(findMetric('rewardz')).toBeUndefined();
  });
});
