/** Sandboxes by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import * as catalog from './units/catalog.ts';
import type { SandboxUnit } from './units/sandbox-unit.ts';

/** Sandboxes by name. */
export const sandboxes: Registry<SandboxUnit> = defineRegistry<SandboxUnit>('sandbox', catalog);

/** The units of this package, with the literal types of their names and settings. */
export type KnownSandbox = (typeof catalog)[keyof typeof catalog];
