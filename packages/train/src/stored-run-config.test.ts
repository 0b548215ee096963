import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@saccade/core';
import { writeConfig } from '@saccade/run-store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveRun } from './run-config.ts';
import { readRunConfig } from './stored-run-config.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'saccade-config-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('the configuration of a run', () => {
  it('is read as it was stored', async () => {
    const { config } = resolveRun({ algorithm: { name: 'rloo', isStandardized: true } });
    writeConfig(directory, config);
    expect((await readRunConfig(directory)).config).toEqual(config);
  });

  it.each([
    [
      { name: 'rloo', isStandardised: true, ratio: 'token' },
      { name: 'rloo', isStandardized: true, ratio: 'token' },
    ],
    [
      { name: 'bypass-reinforce', ratio: 'behaviour-sequence' },
      { name: 'bypass-reinforce', ratio: 'behavior-sequence' },
    ],
    [
      {
        ...{ name: 'grpo', ratio: 'decoupled', behaviourCap: 2 },
        ...{ correction: 'truncate', correctionNormalised: true },
      },
      {
        ...{ name: 'grpo', ratio: 'decoupled', behaviorCap: 2 },
        ...{ correction: 'truncate', correctionNormalized: true },
      },
    ],
  ])('is read under the names of earlier versions: %j', async (stored, present) => {
    writeConfig(directory, { ...resolveRun({}).config, algorithm: stored });
    const { algorithm } = (await readRunConfig(directory)).config;
    expect(algorithm).toMatchObject(present);
    expect(Object.keys(algorithm).join(' ')).not.toMatch(/behaviour|ised/);
  });

  it('is refused where it has a setting that no version knew', async () => {
    const { config } = resolveRun({});
    writeConfig(directory, { ...config, algorithm: { ...config.algorithm, clipMiddle: 0.1 } });
    await expect(readRunConfig(directory)).rejects.toThrow(ConfigError);
    await expect(readRunConfig(directory)).rejects.toThrow(/algorithm\.clipMiddle/);
  });
});
