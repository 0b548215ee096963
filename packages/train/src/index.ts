export { type ForecastOptions, findRemedy, forecastRun, type Remedy } from './forecast.ts';
export { hubOf } from './hub.ts';
export { isRecipeFile, loadRecipe, type RecipeSource } from './load-recipe.ts';
export { backends, openBackend } from './open-backend.ts';
export { openPolicyIn } from './open-policy-in.ts';
export {
  checkRun,
  contextsOf,
  openParts,
  openRunDevice,
  type Parts,
  scoringPartsOf,
} from './parts.ts';
export { openPlayground, openTaskSet } from './playground.ts';
export { processUsage } from './process-usage.ts';
export { type ProfiledWork, profileWork } from './profile-work.ts';
export { protocolOf } from './protocol-of.ts';
export { defineRecipe, inputOf, type Recipe } from './recipe.ts';
export { recipes } from './registry.ts';
export {
  fieldsOf,
  inputOfRun,
  type ResolvedRun,
  type RunConfig,
  type RunInput,
  resolveRun,
} from './run-config.ts';
export { openRunTools } from './run-tools.ts';
export { auditOptionsOf } from './scoring.ts';
export { secret } from './secret.ts';
export { parseSetting, type Setting } from './setting.ts';
export { applySettings } from './settings.ts';
export { type Selected, use } from './slots/slot.ts';
export { slots } from './slots/slots.ts';
export { checkStart } from './start-from.ts';
export { readRunConfig, type StoredRunConfig } from './stored-run-config.ts';
export { chatRun, type OpenChatModel, openChatModel } from './suites/chat-model.ts';
export { findSuites } from './suites/find-suites.ts';
export { type OpenSuites, openSuites, type SuiteContext } from './suites/open-suites.ts';
export { type ResolvedSuite, resolveSuite, type SuiteChoices } from './suites/suite-input.ts';
export { type TrainOptions, type TrainResult, train } from './trainer.ts';
