/** Judges of runs by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import * as catalog from './judging/catalog.ts';
import type { JudgingUnit } from './judging/judging-unit.ts';

export { defineJudging, type JudgingContext, type JudgingUnit } from './judging/judging-unit.ts';

/** The judging services that a run can choose by name in the slot `judge`. */
export const judgings: Registry<JudgingUnit> = defineRegistry<JudgingUnit>('judge', catalog);

/** The units of this package, with the literal types of their names and settings. */
export type KnownJudging = (typeof catalog)[keyof typeof catalog];
