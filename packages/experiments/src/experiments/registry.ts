/** Experiments by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { Experiment } from '../experiment.ts';
import * as catalog from './catalog.ts';

export const experiments: Registry<Experiment> = defineRegistry<Experiment>('experiment', catalog);
