/** The registry of algorithms. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { Algorithm } from './algorithm.ts';
import * as catalog from './algorithms/catalog.ts';

/**
 * All algorithms by name, with their default settings. docs/catalog.md lists them with equations
 * and papers.
 */
export const algorithms: Registry<Algorithm> = defineRegistry<Algorithm>('algorithm', catalog);
