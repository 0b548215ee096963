export { mcpUnits } from './registry.ts';
export type { McpSettings } from './settings.ts';
export { mcp, mcpNamed } from './units/mcp.ts';
