/** Every architecture in a run: demonstrations, cold start, rollouts in the sandbox, updates, evaluation. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@saccade/core';
import { architectures } from '@saccade/policy';
import { readMetrics } from '@saccade/run-store';
import { ensurePython } from '@saccade/sandbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inputOf } from './recipe.ts';
import { recipes } from './registry.ts';
import { type ResolvedRun, resolveRun } from './run-config.ts';
import { parseSetting } from './setting.ts';
import { applySettings } from './settings.ts';
import { train } from './trainer.ts';

const pythonDirectory = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const small = [
  ...['sft.updates=2', 'rl.steps=1', 'rl.groupSize=4', 'evaluation.count=2'],
  ...['coldStart.demonstrations=4', 'coldStart.tours=2', 'coldStart.readings=2'],
  ...['coldStart.captions=2', 'coldStart.batchSize=2', 'checkpoint.everySftUpdates=2'],
  // A part of the demonstrations and of the samples looks, so that observations have images as well.
  ...['coldStart.answerWithoutLooking=0', 'model.layers=2', 'model.visionLayers=3'],
];

/** The run of an architecture; undefined where no small model of it can be made. */
function runOf(architecture: string): ResolvedRun | undefined {
  const settings = [`model.architecture=${architecture}`, ...small].map(parseSetting);
  try {
    return resolveRun(applySettings(inputOf(recipes.get('smoke')), settings));
  } catch (error) {
    if (error instanceof ConfigError && error.field === 'model.architecture') return undefined;
    throw error;
  }
}

const names = architectures.names.filter((name) => runOf(name) !== undefined);

describe('a run', () => {
  const root = mkdtempSync(join(tmpdir(), 'saccade-architectures-'));
  beforeAll(async () => void (await ensurePython(pythonDirectory)), 600_000);
  afterAll(() => rmSync(root, { recursive: true }));

  it('has every architecture that sees', () => {
    const text = architectures.names.filter((name) => !names.includes(name));
    expect(text).toEqual(['qwen2', 'qwen3']);
  });

  it.each(names)('trains %s from demonstrations to the last evaluation', async (name) => {
    const directory = join(root, name);
    const python = async () => (await ensurePython(pythonDirectory)).python;
    const run = runOf(name) as ResolvedRun;
    await train({ run, directory, python, onEvent: () => {} });
    const { rows } = readMetrics(directory).value;
    expect(rows.some((row) => typeof row.grad_norm === 'number')).toBe(true);
    expect(rows.at(-1)).toMatchObject({ 'eval/accuracy': expect.any(Number) });
  });
});
