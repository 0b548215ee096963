export type { ImageListLimits } from './server/image-list.ts';
export { type McpServiceOptions, openMcpService } from './server/serve-http.ts';
export { type StdioOptions, serveMcpOverStdio } from './server/serve-stdio.ts';
export type { ServedTools } from './server/tool-server.ts';
