/** Unit, range, default and one sentence for the fields of an engine that rollouts are sampled with. */
import { z } from 'zod';
import type { EngineConfig } from './config.ts';
import { count, flag, name, quantity } from './config-kinds.ts';

export const engine: z.ZodType<EngineConfig, unknown> = z.strictObject({
  baseUrl: name(
    'none',
    'URL',
    'vLLM, SGLang or `saccade serve policy` to sample rollouts with; none to sample them here.',
  ),
  model: name('none', 'name', 'The model as the engine calls it; none for the first it serves.'),
  keyVariable: name(
    'none',
    'name',
    'Environment variable with the engine’s API key; none for none.',
  ),
  publish: flag(true, 'Give the engine new weights whenever they changed, before it samples.'),
  directory: name(
    'none',
    'directory',
    'Where weights are written for the engine; none for engine-weights/ of the run.',
  ),
  engineDirectory: name(
    'none',
    'directory',
    'The same directory as the engine sees it; none if it has the same path there.',
  ),
  timeoutSeconds: quantity({
    min: 0.1,
    max: 290,
    preset: 240,
    unit: 'seconds',
    about: 'Time of one answer of the engine.',
  }),
  retries: count({
    min: 0,
    max: 100,
    preset: 5,
    unit: 'tries',
    about: 'Tries after the first of requests that the engine did not accept.',
  }),
});
