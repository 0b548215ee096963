export { pyvisionRlTerms } from './presets/pyvision-rl.ts';
export { rewards, verifiers } from './registry.ts';
export type { GroupReward, Reward, RewardContext, TurnReward, Verifier } from './reward.ts';
export { accumulativeTool } from './rewards/accumulative-tool.ts';
export { accuracy } from './rewards/accuracy.ts';
export {
  RewardError,
  type RewardTerm,
  type ScoredGroupResult,
  type Scoring,
  type ScoringTask,
  scoreGroup,
  scoreTrajectory,
} from './score.ts';
export {
  boxedContent,
  judge,
  type Refusal,
  type Verdict,
  type VerdictOptions,
} from './verdict.ts';
export { exact } from './verifiers/exact.ts';
export { numeric } from './verifiers/numeric.ts';
