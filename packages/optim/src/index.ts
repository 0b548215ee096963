export {
  type AdamWOptions,
  type AdamWResult,
  type AdamWState,
  adamwDispose,
  adamwInit,
  adamwUpdate,
} from './adamw.ts';
export { exportAdamW, importAdamW, type StateArray } from './adamw-state.ts';
export {
  constant,
  type DecayOptions,
  linearDecay,
  linearWarmup,
  type Schedule,
  warmupCosine,
} from './schedules.ts';
