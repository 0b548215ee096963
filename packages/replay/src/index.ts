export {
  type ReplayedPlay,
  type ReplayOutcome,
  type ReplayRunOptions,
  replayRun,
  selectPlays,
} from './replay-run.ts';
export { findWeights } from './replay-weights.ts';
