export { type DemonstrationMix, defaultMix, planLooks } from './behaviour.ts';
export { needleCorpus } from './corpus.ts';
export { type DemonstrateOptions, demonstrate } from './demonstrations.ts';
export { createDemonstrator, type ScriptedTurn } from './demonstrator.ts';
export { groundingExamples } from './grounding.ts';
export { answerText, lookText } from './model-text.ts';
export { type ReadingOptions, readingExamples } from './reading.ts';
