export { dapo } from './dapo.ts';
export { grpo } from './grpo.ts';
export { pyvisionRl } from './pyvision-rl.ts';
export { reinforce } from './reinforce.ts';
