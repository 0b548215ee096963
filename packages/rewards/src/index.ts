export type { GroupReward, Reward, RewardContext, TurnReward, Verifier } from './reward.ts';
