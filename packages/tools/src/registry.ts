/** The tools of this package, by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { Tool } from './tool.ts';
import * as catalog from './tools/catalog.ts';

/** The tools that a run can choose by name in the slot `tools`. */
export const tools: Registry<Tool> = defineRegistry<Tool>('tool', catalog);

/** The tools that do one thing to an image each, and need no code of the model's. */
export const imageTools: readonly Tool[] = Object.values<Tool>(catalog).filter(
  ({ name }) => name !== catalog.codeImageTool.name,
);
