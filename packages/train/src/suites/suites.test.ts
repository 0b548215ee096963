import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineSuite, suiteGroups, suites } from '@saccade/eval';
import { afterAll, describe, expect, it } from 'vitest';
import { inputOf } from '../recipe.ts';
import { recipes } from '../registry.ts';
import { resolveRun } from '../run-config.ts';
import { slots } from '../slots/slots.ts';
import { required, settingsOf } from '../unit-settings.ts';
import { findSuites } from './find-suites.ts';
import { resolveSuite } from './suite-input.ts';

const root = mkdtempSync(join(tmpdir(), 'saccade-find-suites-'));
afterAll(() => rmSync(root, { recursive: true }));

const base = resolveRun(inputOf(recipes.get('smoke')));
const generated = (suiteGroups.generated ?? []).map((name) => suites.get(name));

/** Suites whose tasks take seconds to draw, for `npm run sweep`. */
const large = new Set(['documents-8mp', 'mvtool', 'rooms-video', 'search-4k', 'search-8k']);

describe('suites of the catalog', () => {
  it('name units that there are, with settings that they take', () => {
    expect(generated.length).toBeGreaterThan(20);
    expect(suites.names.length).toBeGreaterThan(generated.length + 10);
    for (const [name, suite] of suites.entries()) {
      const { run, settings } = resolveSuite(base, suite);
      expect(settings.k, name).toBeGreaterThanOrEqual(1);
      expect(slots.taskSet.registry.has(run.config.taskSet.name), name).toBe(true);
      // A mapping that is not known is refused here.
      required(run.units.taskSet).with(settingsOf(run.config.taskSet));
    }
  });

  it('find the expected answer of their own tasks right', async () => {
    const isSweep = process.env.SACCADE_SWEEP !== undefined;
    for (const suite of generated.filter(({ name }) => isSweep || !large.has(name))) {
      const { run } = resolveSuite(base, suite);
      const taskSet = required(run.units.taskSet).with(settingsOf(run.config.taskSet));
      const verifier = required(run.units.verifier).with(settingsOf(run.config.verifier));
      const task = await taskSet.task(suite.split, 0);
      expect(verifier.verify(task.answer, task.answer), suite.name).toBe(1);
      expect(verifier.verify('no such thing', task.answer), suite.name).toBe(0);
    }
  }, 300_000);

  it('are each in a group, and every group names suites', () => {
    const grouped = new Set(Object.values(suiteGroups).flat());
    expect(suites.names.filter((name) => !grouped.has(name))).toEqual([]);
    expect(Object.keys(suiteGroups)).toEqual(['generated', 'nano', 'ood', 'public', 'vista-ood']);
    expect(suiteGroups.ood).toHaveLength(6);
    expect(suiteGroups['vista-ood']).toHaveLength(6);
  });
});

describe('suites that a person names', () => {
  it('are found by name, group, file, and under six orientations', async () => {
    const file = join(root, 'mine.mjs');
    const mine = defineSuite({
      ...{ name: 'mine', description: 'Mine.', form: [] },
      ...{ taskSet: { name: 'needle', cards: 1 }, verifier: 'exact' },
    });
    const { settings: _, ...plain } = mine;
    writeFileSync(file, `export const mine = ${JSON.stringify({ ...plain, settings: {} })};\n`);
    const found = await findSuites(['charts,ood', file, 'orientation:maps']);
    const names = found.map(({ name }) => name);
    expect(names).toEqual(['charts', ...(suiteGroups.ood ?? []), 'mine', 'orientation-maps']);
    expect(found.at(-1)?.taskSet).toEqual({ name: 'orientation', of: 'maps', ofSettings: [] });
    resolveSuite(base, found.at(-1) ?? mine);
  });

  it('take settings of their own, of all suites, and of their units', () => {
    const charts = suites.get('charts');
    const { run, settings } = resolveSuite(base, charts, {
      common: [
        { path: 'k', value: 8 },
        { path: 'temperature', value: 0.5 },
      ],
      own: [
        { path: 'charts.k', value: 4 },
        { path: 'charts.taskSet.hardest', value: 2 },
        { path: 'charts.verifier.relativeTolerance', value: 0.1 },
        { path: 'maps.k', value: 2 },
      ],
    });
    expect(settings).toMatchObject({ k: 4, temperature: 0.5 });
    expect(run.config.taskSet).toMatchObject({ name: 'charts-qa', hardest: 2 });
    expect(run.config.verifier).toMatchObject({ name: 'relaxed-accuracy', relativeTolerance: 0.1 });
    expect(run.config.protocol).toEqual(base.config.protocol);
  });

  it('refuse what they do not have, by name', () => {
    const charts = suites.get('charts');
    const own = (path: string, value: unknown) => () =>
      resolveSuite(base, charts, { own: [{ path, value }] });
    expect(own('charts.k', 0)).toThrow(
      /charts\.k: expected an integer in \[1, 100000\] \(samples\), got 0/,
    );
    expect(own('charts.kk', 1)).toThrow(/There is no setting charts\.kk/);
    expect(own('charts.taskSet.hardest', 9)).toThrow(/suite charts: taskSet\.hardest: expected/);
    expect(own('charts.rl.steps', 9)).toThrow(/There is no setting charts\.rl\.steps/);
  });
});
