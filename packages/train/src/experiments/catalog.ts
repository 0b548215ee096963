export { rewardShaping } from './reward-shaping.ts';
export { rollouts } from './rollouts.ts';
