/** The settings of a unit that opens the tools of an MCP server. */
import { optionalText, quantity, type SettingsOf, textList } from '@saccade/core/settings';
import { z } from 'zod';

export const mcpSettings = z.strictObject({
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
  startSeconds: quantity({
    min: 0.1,
    max: 3600,
    default: 120,
    unit: 'seconds',
    about:
      'How long the server may take to start, and to list its tools; `npx` may fetch it first.',
  }),
  timeoutSeconds: quantity({
    min: 0.1,
    max: 3600,
    default: 60,
    unit: 'seconds',
    about: 'How long the server may take for one call.',
  }),
});

/** Where an MCP server is and what of it is used. */
export type McpSettings = SettingsOf<typeof mcpSettings>;
