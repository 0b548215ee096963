export { type DemonstrationMix, defaultMix, planLooks, tourMix } from './behaviour.ts';
export { type CaptionOptions, captions } from './caption.ts';
export { needleCorpus } from './corpus.ts';
export { type DemonstrateOptions, demonstrate } from './demonstrations.ts';
export { createDemonstrator, type ScriptedTurn } from './demonstrator.ts';
export { guide } from './guided.ts';
export { answerText, lookText } from './model-text.ts';
export { type ReadingOptions, readingExamples } from './reading.ts';
