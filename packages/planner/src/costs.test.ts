import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, DataError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { mergeCosts, readCosts, readCostsFile, setCost } from './costs-file.ts';
import { readRunCosts } from './costs-from-run.ts';
import { fitLine } from './fit-line.ts';
import { planCluster } from './plan.ts';
import { drawPlanPage, planRows } from './plan-page.ts';

const least = {
  engine: {
    decode: [
      [1, 40],
      [64, 1500],
    ],
    prefillTokensPerSecond: 20_000,
  },
  learner: { gpus: 8, secondsPerToken: 1e-5 },
};

describe('a document of costs', () => {
  it('needs the speeds that nobody can guess, and fills in the rest', () => {
    const { costs, groups, scheduler } = readCosts(least);
    expect(costs.engine.maxSequences).toBe(256);
    expect(groups.length).toBeGreaterThan(100);
    expect(scheduler.name).toBe('synchronous');
    for (const missing of [{}, { engine: least.engine }, { learner: least.learner }]) {
      expect(() => readCosts(missing)).toThrow(ConfigError);
    }
  });

  it('refuses impossible numbers, unknown fields and schedulers by name', () => {
    const bad: readonly (readonly [string, unknown, RegExp])[] = [
      ['engine.decode', [[1, -3]], /costs\.engine\.decode: expected pairs above 0/],
      ['engine.decode', [], /engine\.decode/],
      ['engine.prefillTokensPerSecond', 0, /prefillTokensPerSecond.*got 0/],
      ['engine.maxSequences', 1.5, /maxSequences.*integer/],
      ['learner.efficiencyPerDoubling', 1.2, /efficiencyPerDoubling/],
      ['learner.secondsPerTokens', 1, /Did you mean costs\.learner\.secondsPerToken\?/],
      ['publish.seconds', Number.NaN, /publish\.seconds/],
      ['scheduler', 'asynchronos', /Did you mean "asynchronous"/],
      ['rollouts.passRate', 2, /passRate/],
    ];
    for (const [path, value, message] of bad) {
      expect(() => readCosts(setCost(least, path, value)), path).toThrow(message);
    }
  });

  it('is read from YAML and JSON; what is neither is refused by file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'costs-'));
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    expect(readCostsFile(write('a.yaml', 'engine: { gpus: 2 }'))).toEqual({ engine: { gpus: 2 } });
    expect(readCostsFile(write('a.json', '{"engine":{"gpus":2}}'))).toEqual({
      engine: { gpus: 2 },
    });
    for (const text of ['a: [', '- 1', 'words', '']) {
      expect(() => readCostsFile(write('b.yaml', text)), text).toThrow(DataError);
    }
    expect(() => readCostsFile(join(folder, 'none.yaml'))).toThrow(DataError);
    expect(() => readRunCosts(folder)).toThrow(/There is no run/);
  });

  it('gives way field by field', () => {
    const merged = mergeCosts({ a: { b: 1, c: 2 }, d: [1] }, { a: { c: 3 }, d: [2] });
    expect(merged).toEqual({ a: { b: 1, c: 3 }, d: [2] });
  });

  it('leaves no setting of one scheduler to another', () => {
    const own = {
      scheduler: { name: 'oversample-filter-rank', promptsPerStep: 16, oversample: 2 },
    };
    const same = mergeCosts(own, { scheduler: { name: own.scheduler.name, oversample: 3 } });
    expect(same).toEqual({ scheduler: { ...own.scheduler, oversample: 3 } });
    const other = mergeCosts(own, setCost({}, 'scheduler.name', 'asynchronous'));
    expect(readCosts(mergeCosts(least, other)).scheduler.name).toBe('asynchronous');
  });
});

describe('a line through times of learning', () => {
  it('is found exactly, and has no part below 0', () => {
    const line = (fixed: number, slope: number) =>
      [100, 300, 900].map((tokens) => ({ tokens, seconds: fixed + slope * tokens }));
    expect(fitLine(line(2, 0.01)).fixed).toBeCloseTo(2, 9);
    expect(fitLine(line(2, 0.01)).slope).toBeCloseTo(0.01, 9);
    expect(fitLine(line(9, -0.001))).toEqual({ fixed: expect.closeTo(8.57, 1), slope: 0 });
    expect(fitLine(line(-1, 0.01)).fixed).toBe(0);
    expect(fitLine([{ tokens: 10, seconds: 5 }])).toEqual({ fixed: 0, slope: 0.5 });
  });
});

describe('a plan', () => {
  const document = readCosts({
    ...least,
    scheduler: { name: 'asynchronous', promptsPerStep: 8, maxStaleness: 1 },
    training: { groupSize: 4 },
  });
  const plans = planCluster({ document, gpus: [1, 4, 16], steps: 6, seed: 1 });

  it('uses no more GPUs than it has, and more of them take no longer', () => {
    for (const { gpus, size } of plans) {
      if (gpus > 1) expect(size.engines + size.learnerGpus).toBeLessThanOrEqual(gpus);
    }
    const speeds = plans.map(({ report }) => report.stepsPerHour);
    expect(speeds).toEqual([...speeds].sort((a, b) => a - b));
  });

  it('keeps the bound of its scheduler and says what holds it up', () => {
    for (const { report, bottleneck, staleness } of plans) {
      expect(report.staleness.length).toBeLessThanOrEqual(2);
      expect(bottleneck).not.toBe('');
      expect(staleness.map(({ maxStaleness }) => maxStaleness)).toEqual([0, 1, 2, 4]);
    }
    const head = planRows(plans)[0] ?? [];
    for (const row of planRows(plans)) expect(row.length).toBe(head.length);
  });

  it('is a page that loads nothing and escapes what it is given', () => {
    const page = drawPlanPage(plans, {
      document: { ...document, assumptions: ['<script>alert(1)</script>'] },
      title: 'A <b>plan</b>',
    });
    expect(page).not.toContain('<script>');
    expect(page).not.toMatch(/(src|href)="?https?:/);
    expect(page).toContain('engine.prefillTokensPerSecond');
  });

  it('refuses numbers of GPUs that hold nothing', () => {
    for (const gpus of [0, -1, 1.5, Number.NaN]) {
      expect(() => planCluster({ document, gpus: [gpus], steps: 2, seed: 1 })).toThrow(/--gpus/);
    }
    const wide = readCosts(setCost(least, 'engine.gpus', 8));
    expect(() => planCluster({ document: wide, gpus: [8], steps: 2, seed: 1 })).toThrow(
      /Give more/,
    );
  });
});
