export { mcpUnits } from './registry.ts';
export { type McpSettings, mcp, mcpNamed } from './units/mcp.ts';
