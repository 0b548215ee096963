/** The tools that a run can choose by name: those of this machine, and units that open others. */
import { defineRegistry, type Registry } from '@saccade/core';
import { mcpUnits } from '@saccade/mcp';
import { tools as imageTools, type ToolChoice } from '@saccade/tools';
import { visionTools } from '@saccade/vision-tools';
import * as catalog from './tools/catalog.ts';

export const toolChoices: Registry<ToolChoice> = defineRegistry<ToolChoice>('tool', {
  ...Object.fromEntries<ToolChoice>([
    ...imageTools.entries(),
    ...visionTools.entries(),
    ...mcpUnits.entries(),
  ]),
  ...catalog,
});
