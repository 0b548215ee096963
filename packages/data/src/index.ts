export type { Act } from './act.ts';
export { type DemonstrationMix, defaultMix, planLooks, tourMix } from './behavior.ts';
export { type CaptionOptions, captions } from './caption.ts';
export { type CodeReadingOptions, codeReadings, codeText } from './code-reading.ts';
export {
  type ColdStart,
  type ColdStartContext,
  checkColdStart,
  defineColdStart,
  type Mixture,
} from './cold-start.ts';
export { needleCorpus, toolCorpus, turnedCorpus, videoCorpus } from './corpus.ts';
export { type DemonstrateOptions, demonstrate } from './demonstrations.ts';
export { createDemonstrator, type ScriptedTurn } from './demonstrator.ts';
export { type Decisions, guide } from './guided.ts';
export { type ReadingOptions, readingExamples } from './reading.ts';
export { coldStarts, type KnownColdStart } from './registry.ts';
export {
  needleScript,
  type Script,
  toolScript,
  turnedScript,
  videoScript,
} from './script.ts';
export { type StripCaptionOptions, stripCaptions } from './strip-caption.ts';
export { planTools, type ToolMix } from './tool-behavior.ts';
export { answerText, stepTexts, type WritingProtocol } from './turn-text.ts';
export { planTurned, type TurnedMix } from './turned-behavior.ts';
export { planVideo, type VideoStep } from './video-behavior.ts';
export { type VideoReadingOptions, videoReadings } from './video-reading.ts';
