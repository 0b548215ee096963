/** `saccade doctor --engine`: what an engine for rollouts can. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError } from '@saccade/core';
import { loadProcessor } from '@saccade/policy';
import { describeEngine, examineEngine as examine } from '@saccade/policy/remote';
import { printJson } from './json.ts';
import { say } from './say.ts';

export interface EngineFlags {
  readonly tokens?: string;
  readonly engineKeyVariable?: string;
  readonly json?: boolean;
}

/** Prints what an engine can, whatever of it rollouts would miss. */
export async function examineEngine(baseUrl: string, flags: EngineFlags): Promise<void> {
  if (flags.tokens === undefined) {
    throw new ConfigError(
      '--tokens',
      'An engine is asked with token ids. Give --tokens the directory of the policy it serves.',
    );
  }
  if (!existsSync(flags.tokens)) {
    throw new ConfigError(
      '--tokens',
      `--tokens: there is no ${resolve(flags.tokens)}. Give the directory of a policy.`,
    );
  }
  const processor = await loadProcessor(resolve(flags.tokens));
  const { engineKeyVariable: variable } = flags;
  const apiKey = variable && process.env[variable];
  if (variable !== undefined && apiKey === undefined) {
    throw new ConfigError(
      '--engine-key-variable',
      `The environment has no ${variable}. Set it to the API key.`,
    );
  }
  const report = await examine({ baseUrl, processor, ...(apiKey && { apiKey }) });
  if (flags.json) printJson(report);
  else for (const line of describeEngine(report)) say(line);
  if (report.capabilities.some(({ state }) => state === 'no')) process.exitCode = 1;
}
