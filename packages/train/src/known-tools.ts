/** The tools that a run can choose by name: those of this machine, and the units that open others. */
import { defineRegistry, type Registry } from '@saccade/core';
import { tools as imageTools, type ToolChoice } from '@saccade/tools';
import { visionTools } from '@saccade/vision-tools';
import * as catalog from './tools/catalog.ts';

export const tools: Registry<ToolChoice> = defineRegistry<ToolChoice>('tool', {
  ...Object.fromEntries(imageTools.entries()),
  ...Object.fromEntries(visionTools.entries()),
  ...catalog,
});
