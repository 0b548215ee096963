/** `vista-nano` at its smallest: every configuration that its table compares starts and makes a step. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MetricsRow, readMetrics } from '@saccade/run-store';
import { ensurePython } from '@saccade/sandbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkRun } from './parts.ts';
import { inputOf } from './recipe.ts';
import { recipes } from './registry.ts';
import { resolveRun } from './run-config.ts';
import { parseSetting } from './setting.ts';
import { applySettings } from './settings.ts';
import { train } from './trainer.ts';

const pythonDirectory = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const python = async () => (await ensurePython(pythonDirectory)).python;
const root = mkdtempSync(join(tmpdir(), 'saccade-vista-nano-'));
const coldStart = join(root, 'cold-start');
afterAll(() => rmSync(root, { recursive: true }));

/** Runs take seconds each; others wait for a sweep. */
const short = ['GRPO', 'the tail-patch curriculum', 'no tools'];
const isSweep = process.env.SACCADE_SWEEP !== undefined;

const resolved = (settings: readonly string[]) => {
  const run = resolveRun(
    applySettings(inputOf(recipes.get('vista-nano')), settings.map(parseSetting)),
  );
  checkRun(run);
  return run;
};

const tiny = [
  'rl.groupSize=2',
  'rl.minibatches=1',
  'scheduler.promptsPerStep=2',
  'rollout.maxTurnTokens=24',
  'evaluation.count=2',
  'evaluation.keepTrajectories=0',
  'rl.keepTrajectoriesEverySteps=0',
];

/** Tools that need no Python process of their own: it takes seconds to start one. */
const lightTools =
  'tools.served.names=image_zoom_in_tool,image_rotate_tool,image_flip_tool,image_resize_tool,image_adjust_tool';

async function rowsOf(name: string, settings: readonly string[]): Promise<readonly MetricsRow[]> {
  const directory = join(root, name);
  const run = resolved([...tiny, ...settings]);
  const { isFinished } = await train({ run, directory, python, onEvent: () => {} });
  expect(isFinished).toBe(true);
  return readMetrics(directory).value.rows;
}

beforeAll(async () => {
  // All tools, since the cold start demonstrates them; what follows has no demonstrations.
  await rowsOf('cold-start', [
    'rl.steps=0',
    'sft.updates=2',
    'coldStart.demonstrations=8',
    'coldStart.tours=8',
    'coldStart.slip=1',
    'coldStart.answerWithoutLooking=0',
    'coldStart.readings=4',
    'coldStart.codeReadings=4',
    'coldStart.captions=4',
  ]);
}, 300_000);

describe.each<[string, readonly string[], Readonly<Record<string, unknown>>]>([
  ['GRPO', [], { algorithm: { name: 'vista-r1', klCoefficient: 1e-3 } }],
  ['PPO', ['algorithm=ppo'], { algorithm: { name: 'ppo' } }],
  [
    'DAPO with dynamic sampling',
    ['algorithm=dapo', 'scheduler=dynamic-sampling'],
    { algorithm: { name: 'dapo', clipHigh: 0.28 }, scheduler: { uniform: 'accuracy' } },
  ],
  [
    'the tail-patch curriculum',
    ['scheduler=tail-patch'],
    { scheduler: { name: 'tail-patch', lowest: 0.125, highest: 0.375 } },
  ],
  ['the dense reward', ['reward=vista-dense'], { reward: { name: 'vista-dense' } }],
  ['the sparse reward', ['reward=vista-sparse'], { reward: { name: 'vista-sparse' } }],
  ['the difficulty reward', ['reward=vista-difficulty'], { reward: { name: 'vista-difficulty' } }],
  ['no tools', ['protocol.toolTurns=0'], { protocol: { name: 'vista', toolTurns: 0 } }],
])('vista-nano with %s', (name, settings, expected) => {
  it('is configured as the paper has it', () => {
    expect(resolved(settings).config).toMatchObject({
      rl: { groupSize: 8 },
      ...expected,
    });
  });

  it('makes a step', async (context) => {
    if (!isSweep && !short.includes(name)) return context.skip('`npm run sweep` runs it');
    const scheduler = settings.includes('scheduler=tail-patch')
      ? // No task is in the window of a policy that has learned nothing.
        ['scheduler.lowest=0', 'scheduler.probeTasks=2']
      : settings.includes('scheduler=dynamic-sampling')
        ? ['scheduler.maxRounds=1', 'scheduler.uniform=reward']
        : [];
    const own = [`startFrom=${coldStart}`, 'rl.steps=1', lightTools];
    const rows = await rowsOf(name, [...own, ...settings, ...scheduler]);
    const steps = rows.filter(({ stage }) => stage === 'rl');
    expect(steps).toHaveLength(1);
    expect(steps[0]).toMatchObject({ 'failed/ratio': 0 });
    if (name === 'no tools') expect(rows.at(-1)).toMatchObject({ 'eval/turns/mean': 1 });
  }, 120_000);
});
