/** What the slot `tools` knows by name: tools, and units that open tools of others. */
import { defineRegistry, type Registry } from '@saccade/core';
import { mcpUnits } from '@saccade/mcp';
import { type ToolChoice, tools } from '@saccade/tools';

export const toolChoices: Registry<ToolChoice> = defineRegistry<ToolChoice>(
  'tool',
  Object.fromEntries<ToolChoice>([...tools.entries(), ...mcpUnits.entries()]),
);
