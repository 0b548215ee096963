export { main } from './cli/main.ts';
export type { Evaluation } from './evaluate.ts';
export { loadRecipe, type RecipeSource } from './load-recipe.ts';
export { defineRecipe, inputOf, type Recipe } from './recipe.ts';
export { recipes } from './registry.ts';
export { type ReplayedPlay, type ReplayRunOptions, replayRun } from './replay-run.ts';
export {
  fieldsOf,
  type ResolvedRun,
  type RunConfig,
  type RunInput,
  resolveRun,
} from './run-config.ts';
export { applySettings, parseSetting, type Setting } from './settings.ts';
export { type Selected, use } from './slots/slot.ts';
export { slots } from './slots/slots.ts';
export { readRunConfig } from './stored-run-config.ts';
export { type TrainOptions, type TrainResult, train } from './trainer.ts';
