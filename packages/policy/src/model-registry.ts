/** The registry of models. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { ModelUnit } from './model-unit.ts';
import * as catalog from './model-units/catalog.ts';

export { fetchModel, type Hub, parseModelSource } from '@saccade/hub';
export { largestImage } from './memory/largest-image.ts';
export {
  type MemoryForecast,
  type MemoryWorkload,
  predictMemory,
} from './memory/predict-memory.ts';
export {
  defineModel,
  type ModelContext,
  type ModelNeeds,
  type ModelPlan,
  type ModelUnit,
} from './model-unit.ts';

/** Models that a run can name, for example `nano`. */
export const models: Registry<ModelUnit> = defineRegistry<ModelUnit>('model', catalog);

/** The units of this package, with the literal types of their names and settings. */
export type KnownModel = (typeof catalog)[keyof typeof catalog];
