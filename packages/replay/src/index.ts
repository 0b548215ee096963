export { type ReplayedPlay, type ReplayOutcome, replayRun, selectPlays } from './replay-run.ts';
export { findWeights } from './replay-weights.ts';
