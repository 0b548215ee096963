/** The units of this package, by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { ToolUnit } from '@saccade/tools';
import * as catalog from './units/catalog.ts';

/** Units of the slot `tools` that open the tools of an MCP server. */
export const mcpUnits: Registry<ToolUnit> = defineRegistry<ToolUnit>(
  'tool',
  // A unit's own settings are narrower than what a slot passes, which its schema has checked.
  catalog as unknown as Readonly<Record<string, ToolUnit>>,
);
