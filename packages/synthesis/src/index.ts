export { type Box, CanonicalFrame, type Placed } from './canonical.ts';
export type { Player, SynthesisContext } from './context.ts';
export { type Densified, type DensifyOptions, densify } from './densify.ts';
export {
  applyFilters,
  defineFilter,
  type Filter,
  type FilterContext,
  type FilterCount,
  type FilterUnit,
} from './filter.ts';
export {
  type Goal,
  type Guided,
  type GuideOptions,
  guidedPlay,
  type Shown,
} from './guided-play.ts';
export { type Mistake, mistaken, mistakes, stumbling } from './inject-error.ts';
export { measurePassRates, type PassRate, type PassRateOptions } from './pass-rate.ts';
export {
  definePipeline,
  type Fact,
  type Pipeline,
  type StepCount,
  type SynthesisResult,
} from './pipeline.ts';
export { type Candidate, type PlayOptions, playTasks } from './play-tasks.ts';
export { filters, pipelines } from './registry.ts';
export { openScriptedTeacher, type ScriptedTeacherOptions } from './scripted-teacher.ts';
export { type SynthesisIdentity, type Synthesized, synthesize } from './synthesize.ts';
