/** All algorithms by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { Algorithm } from './algorithm.ts';
import * as catalog from './algorithms/catalog.ts';

export const algorithms: Registry<Algorithm> = defineRegistry<Algorithm>('algorithm', catalog);
