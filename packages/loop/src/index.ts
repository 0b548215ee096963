export { reinforce } from './rl.ts';
export { Interrupted, type Run } from './run.ts';
export { coldStartOf, saveRun } from './run-checkpoint.ts';
export type { OpenColdStart, RunParts, StageOptimizer, StagePolicy } from './run-parts.ts';
export { checkpointSettings } from './settings/checkpoint.ts';
export { rlSettings } from './settings/rl.ts';
export { sftSettings } from './settings/sft.ts';
export { coldStart } from './sft.ts';
export { reinforceStreaming } from './streaming.ts';
