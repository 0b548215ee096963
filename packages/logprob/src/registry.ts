/** The ops of this package, by id. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { Op } from '@saccade/ops';
import * as catalog from './ops/catalog.ts';

/** Registry of `linearLogprob`, `linearSample` and `linearSampleTruncated`, by op id. */
export const logprobOps: Registry<Op> = defineRegistry<Op>('op', catalog);

/** The same ops as a list, for tables of all ops. */
export const logprobCatalog: readonly Op[] = Object.freeze(Object.values<Op>(catalog));
