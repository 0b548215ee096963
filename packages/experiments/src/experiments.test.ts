/** Experiments: what every one must keep, and that runs record the curves they draw. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@saccade/core';
import { MOST_RUNS } from '@saccade/report';
import type { MetricsRow } from '@saccade/run-store';
import { findMetric } from '@saccade/run-store/metrics';
import { ensurePython } from '@saccade/sandbox';
import { parseSetting } from '@saccade/train';
import { afterAll, describe, expect, it } from 'vitest';
import type { Experiment } from './experiment.ts';
import { drawExperimentCurves, drawExperimentPage, endsOf } from './experiment-report.ts';
import { outcomeTable } from './outcomes.ts';
import { experiments } from './registry.ts';
import { type PartResult, planExperiment, runExperiment } from './run-experiment.ts';

const pythonDirectory = join(import.meta.dirname, '../../../.cache/sandbox-venv');

const root = mkdtempSync(join(tmpdir(), 'saccade-experiments-'));
afterAll(() => rmSync(root, { recursive: true }));

/** As small as a run goes. */
const tiny = [
  'sft.updates=1',
  'coldStart.demonstrations=4',
  'coldStart.tours=4',
  'coldStart.readings=4',
  'coldStart.captions=4',
  'rl.steps=1',
  'scheduler.promptsPerStep=4',
  'evaluation.count=2',
  'evaluation.keepTrajectories=0',
  'rl.keepTrajectoriesEverySteps=0',
  'rollout.slowSeconds=0.1',
].map(parseSetting);

describe.each(experiments.entries())('%s', (name, experiment) => {
  it('is called like its file, and says what it shows', () => {
    expect(experiment.name).toBe(name);
    expect(experiment.title).not.toBe('');
    for (const { title, about, variants, curves, outcomes = [] } of experiment.parts) {
      for (const { metric } of outcomes) expect(findMetric(metric), metric).toBeDefined();
      for (const text of [title, about]) expect(text).not.toBe('');
      for (const curve of curves) expect(curve.about, curve.metric).toMatch(/\.$/);
      for (const variant of variants) expect(variant.about, variant.label).toMatch(/\.$/);
      expect(new Set(curves.map(({ metric }) => metric)).size).toBe(curves.length);
    }
  });

  it('plans runs that differ, in folders of their own, all from a cold start it makes', () => {
    const { coldStarts, parts } = planExperiment(experiment, root);
    const runs = parts.flatMap(({ variants }) => variants);
    const folders = [...coldStarts, ...runs].map(({ directory }) => directory);
    expect(new Set(folders).size).toBe(folders.length);
    for (const { variants } of parts) {
      expect(variants.length).toBeLessThanOrEqual(MOST_RUNS);
      const configs = variants.map(({ run }) => JSON.stringify(run.config));
      expect(new Set(configs).size).toBe(configs.length);
    }
    const starts = coldStarts.map(({ directory }) => directory);
    for (const { part, variants } of parts) {
      for (const { run } of variants) {
        // The others continue a run of an earlier part, whose folder has the policy.
        if (!part.from.includes('/')) expect(starts).toContain(run.config.startFrom);
        else expect(run.config.startFrom).toMatch(/\/checkpoints\/step-0000\d\d\/policy$/);
      }
    }
  });

  it('draws curves that its runs record', async (context) => {
    const isSweep = process.env.SACCADE_SWEEP !== undefined;
    if (!isSweep) return context.skip('it takes half a minute; `npm run sweep` trains it');
    // Only the first run of each part: the others record metrics of the same names.
    const first: Experiment = {
      ...experiment,
      parts: experiment.parts.map((part) => ({ ...part, variants: part.variants.slice(0, 1) })),
    };
    const plan = planExperiment(first, join(root, name), tiny);
    let results: readonly PartResult[] = [];
    const isDone = await runExperiment(plan, {
      python: async () => (await ensurePython(pythonDirectory)).python,
      onEvent: () => {},
      isStopRequested: () => false,
      onRun: () => {},
      onResults: (all) => {
        results = all;
      },
    });
    expect(isDone).toBe(true);
    for (const { part, runs } of results) {
      const rows = runs.flatMap(({ metrics }) => metrics).filter(({ stage }) => stage === 'rl');
      expect(rows).toHaveLength(1);
      for (const { metric } of part.curves) expect(rows[0], metric).toHaveProperty([metric]);
    }
    const page = drawExperimentPage(first, results, 'npx saccade experiment');
    expect(page).not.toMatch(/No values were recorded|NaN|undefined/);
  }, 240_000);
});

const experiment: Experiment = {
  name: 'shapes',
  title: 'Shapes & sizes',
  description: 'For tests.',
  coldStarts: [{ name: 'cold-start', recipe: 'codedance-nano', settings: [] }],
  parts: [
    {
      name: 'part',
      title: 'A <part>',
      about: 'It asks.',
      from: 'cold-start',
      recipe: 'codedance-nano',
      settings: ['scheduler.promptsPerStep=4'],
      variants: [
        { label: 'One & two', about: 'One.', settings: [] },
        { label: 'other', about: 'Two.', settings: ['reward.accuracy=0.5'] },
      ],
      curves: [
        { metric: 'accuracy', title: 'Right', about: 'Share.', unit: 'share' },
        { metric: 'tool_calls/mean', title: 'Calls', about: 'Each.', unit: 'number' },
      ],
    },
  ],
};

describe('an experiment', () => {
  const part = experiment.parts[0] as Experiment['parts'][number];
  const changed = (change: Partial<typeof part>): Experiment => ({
    ...experiment,
    parts: [{ ...part, ...change }],
  });

  it('puts a person’s settings before what a variant differs in', () => {
    const settings = ['rl.steps=7', 'reward.accuracy=2', 'promptsPerStep=8'].map(parseSetting);
    const [planned] = planExperiment(experiment, '/runs', settings).parts;
    const [one, other] = planned?.variants ?? [];
    expect(one?.run.config).toMatchObject({
      rl: { steps: 7 },
      scheduler: { promptsPerStep: 8 },
      reward: { accuracy: { weight: 2 } },
    });
    expect(other?.run.config.reward.accuracy).toMatchObject({ weight: 0.5 });
    expect(one?.directory).toBe('/runs/part/one-two');
  });

  it('refuses runs that cannot begin from their cold start, before anything runs', () => {
    const plan = (change: Partial<typeof part>) => () => planExperiment(changed(change), root);
    expect(plan({ from: 'elsewhere' })).toThrow(/Known: cold-start/);
    expect(plan({ settings: ['sft.updates=3'] })).toThrow(/another sft than the cold start/);
    expect(plan({ settings: ['protocol=pyvision-image'] })).toThrow(ConfigError);
    expect(plan({ settings: ['coldStart.demonstrations=7'] })).toThrow(
      /another coldStart than the cold start/,
    );
    expect(plan({ recipe: 'pyvision-image-nano' })).toThrow(/another protocol than the cold start/);
  });

  it('continues a run of an earlier part where a part says so, after its last step', () => {
    const tail = { ...part, name: 'tail', from: 'part/One & two' };
    const two: Experiment = { ...experiment, parts: [part, tail] };
    const [, planned] = planExperiment(two, '/runs', [parseSetting('rl.steps=7')]).parts;
    const start = '/runs/part/one-two/checkpoints/step-000007/policy';
    expect(planned?.variants.map(({ run }) => run.config.startFrom)).toEqual([start, start]);
    const early: Experiment = { ...experiment, parts: [tail, part] };
    expect(() => planExperiment(early, root)).toThrow(/begins from "part\/One & two"/);
  });

  it('shows every part and every variant, with names escaped, whatever has ended', () => {
    const row = (step: number, accuracy: number): MetricsRow => ({
      stage: 'rl',
      step,
      accuracy,
      reward: accuracy,
    });
    const runs = [{ label: 'other', metrics: [row(6, 0.25), row(7, 0.75)] }];
    const results = [{ part, runs }];
    const page = drawExperimentPage(experiment, results, 'npx saccade experiment <shapes>');
    expect(page).toContain('Shapes &amp; sizes');
    expect(page).toContain('A &lt;part&gt;');
    expect(page).toContain('npx saccade experiment &lt;shapes&gt;');
    expect(page).toContain('1 of 2 runs have not ended yet');
    // The color of a run is that of its place, not of the order in which runs end.
    expect(page).toContain('stroke-2');
    expect(page).toContain('No values were recorded');
    expect(page).not.toMatch(/<script|NaN/);
    const image = drawExperimentCurves(experiment, results);
    expect(image).toContain('One &amp; two');
    expect(image.match(/class="title"/g)).toHaveLength(2);
  });

  it('tables the last evaluation of every run beside that of the cold start', () => {
    const evaluation = (label: string, step: number, share: number): MetricsRow => ({
      ...{ stage: 'evaluation', label, step, 'eval/accuracy': share },
    });
    const runs = [
      { label: 'a', metrics: [evaluation('sft', 1, 0.5), evaluation('final', 9, 0.875)] },
      { label: 'b', metrics: [evaluation('sft', 1, 0.5)] },
    ];
    const outcomes = [
      { metric: 'eval/accuracy', title: 'accuracy', unit: 'share' },
      { metric: 'eval/none', title: 'none', unit: 'number' },
    ] as const;
    expect(outcomeTable({ part: { ...part, outcomes }, runs }).split('\n')).toEqual([
      '| run        | accuracy | none |',
      '| ---------- | -------- | ---- |',
      '| cold start | 50.0 %   | –    |',
      '| a          | 87.5 %   | –    |',
      '| b          | –        | –    |',
    ]);
    const page = drawExperimentPage(
      { ...experiment, parts: [{ ...part, outcomes }] },
      [{ part: { ...part, outcomes }, runs }],
      'npx',
    );
    expect(page).toContain('<td class="n">87.5 %</td>');
  });

  it('compares the first steps with the last in words', () => {
    const metrics = Array.from({ length: 12 }, (_, i): MetricsRow => {
      return { stage: 'rl', step: i + 1, accuracy: i / 10, calls: i };
    });
    expect(endsOf(metrics, { metric: 'accuracy', unit: 'share' })).toBe('20.0 % → 90.0 %');
    expect(endsOf(metrics, { metric: 'calls', unit: 'number' })).toBe('2.00 → 9.00');
    expect(endsOf(metrics, { metric: 'none', unit: 'number' })).toBe('–');
  });
});
