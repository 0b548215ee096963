/** Experiments by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { Experiment } from './experiment.ts';
import * as catalog from './experiments/catalog.ts';

/** The experiments that `saccade experiment` runs, by name. */
export const experiments: Registry<Experiment> = defineRegistry<Experiment>('experiment', catalog);
