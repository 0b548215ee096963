/** A directory whose run failed before it learned anything is free for the next one. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePython } from '@saccade/sandbox';
import { expect, it } from 'vitest';
import { inputOf } from './recipe.ts';
import { recipes } from './registry.ts';
import { resolveRun } from './run-config.ts';
import { parseSetting } from './setting.ts';
import { applySettings } from './settings.ts';
import { train } from './trainer.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');

it('starts over where nothing was learned, and nowhere else', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'saccade-started-over-'));
  const path = join(directory, 'given.jsonl');
  const messages = [
    { role: 'user', content: 'Which digit?' },
    { role: 'assistant', content: '<answer>7</answer>' },
  ];
  writeFileSync(path, `${JSON.stringify({ messages })}\n`);
  const settings = ['coldStart=given', `coldStart.path=${path}`, 'evaluation.count=1'];
  const attempt = () =>
    train({
      run: resolveRun(applySettings(inputOf(recipes.get('smoke')), settings.map(parseSetting))),
      ...{ directory: join(directory, 'run'), onEvent: () => {} },
      python: async () => (await ensurePython(environment)).python,
    });
  for (let attempts = 0; attempts < 2; attempts++) {
    await expect(attempt()).rejects.toThrow(/1 of 1 rows of .* It reads as openai: set coldStart/);
  }
  mkdirSync(join(directory, 'run', 'checkpoints', 'step-000001'), { recursive: true });
  await expect(attempt()).rejects.toThrow('holds a run already. Continue with --resume');
});
