export { evaluationAndTime } from './evaluation-and-time.ts';
export { learning } from './learning.ts';
export { rollouts } from './rollouts.ts';
