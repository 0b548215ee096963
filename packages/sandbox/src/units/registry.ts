/** Sandboxes by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import * as catalog from './catalog.ts';
import type { SandboxUnit } from './sandbox-unit.ts';

export const sandboxes: Registry<SandboxUnit> = defineRegistry<SandboxUnit>('sandbox', catalog);

/** The units of this package, with the literal types of their names and settings. */
export type KnownSandbox = (typeof catalog)[keyof typeof catalog];
