export { rewardShaping } from './reward-shaping.ts';
export { video } from './video.ts';
