/** The answer to MCP requests, which OpenEnv servers may have. */

/** Calls of tools are turns of a model here, which `/step` takes as text. */
export function noMcp(id: unknown): object {
  const error = {
    code: -32601,
    message: 'This environment has no MCP tools. Write calls as text.',
  };
  return {
    jsonrpc: '2.0',
    id: typeof id === 'string' || typeof id === 'number' ? id : null,
    error,
  };
}
