/** The ops of this package, by id. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { Op } from './op.ts';
import * as catalog from './ops/catalog.ts';

/** Registry of the ops of this package; the name of a unit is the op's `id`, for example `gemm`. */
export const ops: Registry<Op> = defineRegistry<Op>('op', catalog);

/** The same ops as a list, for a backend's or a test's table of all ops. */
export const opsCatalog: readonly Op[] = Object.freeze(Object.values<Op>(catalog));
