export { faithfulness } from './faithfulness.ts';
export { rewardShaping } from './reward-shaping.ts';
export { rollouts } from './rollouts.ts';
export { video } from './video.ts';
export { vista } from './vista.ts';
