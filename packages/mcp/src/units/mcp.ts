/** The tools of an MCP server as tools of a run: over stdio, or over streamable HTTP. */
import { ConfigError } from '@saccade/core';
import { defineToolUnit, type ToolUnit } from '@saccade/tools';
import { type McpSettings, mcpSettings } from '../settings.ts';

/**
 * A unit of the slot `tools` under a name of its own: a run that uses several MCP servers needs one
 * for each.
 */
export function mcpNamed<const Name extends string>(
  name: Name,
): ToolUnit<typeof mcpSettings> & { readonly name: Name } {
  return defineToolUnit({
    name,
    description:
      'The tools of an MCP server, which a program serves over stdio or a URL over HTTP.',
    settings: mcpSettings,
    describe(given) {
      checkPlace(name, given);
      return [];
    },
    async open(given, host) {
      checkPlace(name, given);
      // The protocol's client and its validators are large, and most runs have no server.
      const { openServerTools } = await import('../client/open-server-tools.ts');
      return await openServerTools(name, given, host);
    },
  });
}

/** The unit of the slot `tools` for one MCP server. */
export const mcp: ReturnType<typeof mcpNamed<'mcp'>> = mcpNamed('mcp');

function checkPlace(name: string, { command, url, images }: McpSettings): void {
  const refuse = (field: string, sentence: string): never => {
    throw new ConfigError(`tools.${name}.${field}`, `tools.${name}.${field}: ${sentence}`);
  };
  if (command === undefined && url === undefined) {
    refuse(
      'command',
      `expected a program, or a server at tools.${name}.url, got neither. Set one.`,
    );
  }
  if (command !== undefined && url !== undefined) {
    refuse('url', 'the server is started by a command too. Leave one of the two out.');
  }
  if (url === undefined) return;
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    refuse('url', `expected an http or https URL, got "${url}".`);
  }
  if (images.some((one) => /=path\b/.test(one))) {
    refuse(
      'images',
      'a server at a URL cannot read files of this machine. Use base64 or data-url.',
    );
  }
}
