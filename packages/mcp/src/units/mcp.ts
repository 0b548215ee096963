/** The tools of an MCP server as tools of a run: over stdio, or over streamable HTTP. */
import { ConfigError } from '@saccade/core';
import { optionalText, quantity, type SettingsOf, textList } from '@saccade/core/settings';
import { defineToolUnit, type ToolUnit } from '@saccade/tools';
import { z } from 'zod';
import { openServerTools } from '../client/open-server-tools.ts';

const settings = z.strictObject({
  command: optionalText({
    unit: 'program',
    about: 'Starts a server that speaks over stdio, e.g. `npx`; this or `url`.',
  }),
  args: textList({ unit: 'arguments', about: 'What the program is started with.' }),
  directory: optionalText({
    unit: 'directory',
    about: 'Where the program starts; unset: where the run does.',
  }),
  environment: textList({
    unit: 'names',
    about:
      'Environment variables that the program gets, beside HOME, PATH and the like; never all of them.',
  }),
  url: optionalText({
    unit: 'URL',
    about: 'A server that speaks streamable HTTP; this or `command`.',
  }),
  tokenVariable: optionalText({
    unit: 'name',
    about: 'Environment variable with the bearer token of `url`; unset: no token.',
  }),
  take: textList({
    unit: 'names',
    about: 'The tools to take, as the server calls them; none: all.',
  }),
  prefix: optionalText({
    unit: 'text',
    about: 'Stands before the names of its tools, where two servers have one of the same name.',
  }),
  images: textList({
    unit: 'tool.argument=form',
    about:
      'Arguments that get an image as `base64`, `data-url` or `path`. The model gives its index; ' +
      'with `:first` or `:last` after the form the argument is filled in without it.',
  }),
  timeoutSeconds: quantity({
    min: 0.1,
    max: 3600,
    default: 60,
    unit: 'seconds',
    about: 'How long the server may take to start, and for one call.',
  }),
});

/** Where an MCP server is and what of it is used. */
export type McpSettings = SettingsOf<typeof settings>;

/**
 * A unit of the slot `tools` under a name of its own: a run that uses several MCP servers needs one
 * for each.
 */
export function mcpNamed<const Name extends string>(
  name: Name,
): ToolUnit<typeof settings> & { readonly name: Name } {
  return defineToolUnit({
    name,
    description:
      'The tools of an MCP server, which a program serves over stdio or a URL over HTTP.',
    settings,
    describe(given) {
      checkPlace(name, given);
      return [];
    },
    async open(given, host) {
      checkPlace(name, given);
      return await openServerTools(name, given, host);
    },
  });
}

export const mcp: ReturnType<typeof mcpNamed<'mcp'>> = mcpNamed('mcp');

function checkPlace(name: string, { command, url, images }: McpSettings): void {
  const refuse = (field: string, sentence: string): never => {
    throw new ConfigError(`tools.${name}.${field}`, `tools.${name}.${field}: ${sentence}`);
  };
  if (command === undefined && url === undefined) {
    refuse('command', 'expected a program, or a server at tools.mcp.url, got neither. Set one.');
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
