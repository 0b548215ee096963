export { rewardShaping } from './reward-shaping.ts';
