/** The tools of this package, by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { ToolUnit } from '@saccade/tools';
import * as catalog from './tools/catalog.ts';

/** The visual tools by name. */
export const visionTools: Registry<ToolUnit> = defineRegistry<ToolUnit>('tool', catalog);

/** The units of this package, with the literal types of their names. */
export type KnownVisionTool = (typeof catalog)[keyof typeof catalog];
