export { remote } from './client/remote.ts';
export { type RemoteToolsOptions, remoteTools } from './client/remote-tools.ts';
export type { ToolConnectionOptions } from './client/tool-connection.ts';
