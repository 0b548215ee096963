/** The registry of engines. */
import { defineRegistry, type Registry } from '@saccade/core';
import * as catalog from '../engines/catalog.ts';
import type { EngineUnit } from './engine.ts';

/** Engines that a run can name, for example `http`. */
export const engines: Registry<EngineUnit> = defineRegistry<EngineUnit>('engine', catalog);

/** The units of this package, with the literal types of their names and settings. */
export type KnownEngine = (typeof catalog)[keyof typeof catalog];
