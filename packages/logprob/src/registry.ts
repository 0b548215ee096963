/** The ops of this package, by id. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { Op } from '@saccade/ops';
import * as catalog from './ops/catalog.ts';

export const logprobOps: Registry<Op> = defineRegistry<Op>('op', catalog);

/** The same ops as a list. */
export const logprobCatalog: readonly Op[] = Object.freeze(Object.values<Op>(catalog));
