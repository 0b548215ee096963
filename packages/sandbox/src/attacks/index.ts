export type { Attack, Expectation, Verdict } from './attack.ts';
export {
  type FuzzOptions,
  type FuzzResult,
  fuzzLive,
  fuzzReplies,
  type LiveOptions,
  liveLimits,
} from './fuzz-replies.ts';
export {
  type AttackResult,
  attackCode,
  attackLimits,
  attacks,
  expectedVerdict,
  runAttacks,
  type TierResult,
} from './run.ts';
export { drawAttacks } from './table.ts';
