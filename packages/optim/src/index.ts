export { type AdamWOptions, type AdamWState, adamwInit, adamwUpdate } from './adamw.ts';
export { constant, type Schedule, warmup, warmupCosine } from './schedules.ts';
