export {
  type Checkpoint,
  findLatestCheckpoint,
  verifyCheckpoint,
  writeCheckpoint,
} from '@saccade/run-store';
export { main } from './cli/main.ts';
export type { PartialConfig, RunConfig } from './config.ts';
export { type ConfigField, listConfigFields } from './config-fields.ts';
export type { Evaluation } from './evaluate.ts';
export type { Recipe } from './recipe.ts';
export { recipes } from './registry.ts';
export { type ReplayedPlay, type ReplayRunOptions, replayRun } from './replay-run.ts';
export { readRunConfig } from './run-config.ts';
export { applySettings, parseSetting, validateConfig } from './settings.ts';
export { type TrainOptions, type TrainResult, train } from './trainer.ts';
