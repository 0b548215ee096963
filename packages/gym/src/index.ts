export type { Budgets, Env, EnvReset, EnvStep } from './env.ts';
export type { MessagePart, Protocol } from './protocol.ts';
export type { Split, Task, TaskImage, TaskSet } from './task.ts';
