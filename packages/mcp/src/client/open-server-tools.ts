/** Connects to a server, lists its tools, and makes tools of a run of them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, nearestName } from '@saccade/core';
import type { OpenTools, ToolHost } from '@saccade/tools';
import type { McpSettings } from '../settings.ts';
import { readImageArguments } from './image-arguments.ts';
import { type ListedTool, listTools } from './list-tools.ts';
import { mcpTool } from './mcp-tool.ts';
import { type LinkTransport, ServerLink } from './server-link.ts';
import { ServerProcess } from './server-process.ts';
import { serverUrl } from './server-url.ts';
import { mapNames } from './tool-names.ts';

/**
 * @param unit the name of the unit, for messages
 * @throws ToolError if the server cannot be reached or gives no list
 * @throws ConfigError if it lacks a tool or an argument that the settings name
 */
export async function openServerTools(
  unit: string,
  settings: McpSettings,
  host: ToolHost,
): Promise<OpenTools> {
  const field = (name: string): string => `tools.${unit}.${name}`;
  const plan = readImageArguments(field('images'), settings.images);
  const open = wayTo(unit, settings, host);
  const link = new ServerLink({
    label: `The MCP server ${settings.url ?? settings.command}`,
    startSeconds: settings.startSeconds,
    timeoutSeconds: settings.timeoutSeconds,
    onEvent: host.onEvent,
    open,
  });
  const directory = await mkdtemp(join(tmpdir(), 'saccade-mcp-'));
  const dispose = async (): Promise<void> => {
    await link.dispose();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const listed = await listTools(link);
    const taken = take(field('take'), listed, settings.take);
    for (const { tool, argument } of plan) {
      const found = listed.find(({ name }) => name === tool);
      const known = Object.keys(found?.inputSchema.properties ?? {});
      if (known.includes(argument)) continue;
      const problem =
        found === undefined
          ? `no tool ${tool}. Known: ${listed.map(({ name }) => name).join(', ')}.`
          : `no argument ${argument}. Known: ${known.join(', ')}.`;
      throw new ConfigError(field('images'), `${field('images')}: the server has ${problem}`);
    }
    const names = mapNames(
      taken.map(({ name }) => name),
      settings.prefix,
    );
    const warn = (message: string): void => host.onEvent({ kind: 'warning', message });
    const tools = taken.flatMap((tool, index) => {
      const ours = names[index]?.ours ?? tool.name;
      if (ours !== tool.name) warn(`tools.${unit}: ${tool.name} is called ${ours} here.`);
      const images = plan.filter((one) => one.tool === tool.name);
      const made = mcpTool(tool, { name: ours, link, images, directory });
      if ('tool' in made) return [made.tool];
      if (settings.take.length > 0) {
        throw new ConfigError(
          field('take'),
          `${field('take')}: the schema of ${tool.name} cannot be used: ${made.problem}. Leave it out.`,
        );
      }
      warn(
        `tools.${unit}: ${tool.name} is left out, as its schema cannot be used: ${made.problem}.`,
      );
      return [];
    });
    return { tools, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

function take(
  field: string,
  listed: readonly ListedTool[],
  wanted: readonly string[],
): readonly ListedTool[] {
  if (wanted.length === 0) return listed;
  return wanted.map((name) => {
    const found = listed.find((tool) => tool.name === name);
    if (found !== undefined) return found;
    const known = listed.map((tool) => tool.name);
    const near = nearestName(name, known);
    const hint = near === undefined ? '' : ` Did you mean ${near}?`;
    throw new ConfigError(
      field,
      `${field}: the server has no tool ${name}. Known: ${known.join(', ') || 'none'}.${hint}`,
    );
  });
}

/** A new way to the server at every call. @throws ConfigError for a variable that is not set */
function wayTo(unit: string, settings: McpSettings, host: ToolHost): () => LinkTransport {
  const { url, tokenVariable, command = '', args, directory } = settings;
  if (url !== undefined) {
    const token = tokenVariable && host.secret(`tools.${unit}.tokenVariable`, tokenVariable);
    return () => {
      const transport = serverUrl({ url, ...(token !== undefined && { token }) });
      return {
        transport,
        lastWords: () => '',
        sayGoodbye: async () => {
          await Promise.race([
            transport.terminateSession().catch(() => {}),
            new Promise((resolve) => setTimeout(resolve, 1000).unref()),
          ]);
        },
        kill: () => transport.close(),
      };
    };
  }
  const environment = Object.fromEntries(
    settings.environment.map((name) => [name, host.secret(`tools.${unit}.environment`, name)]),
  );
  return () => {
    const transport = new ServerProcess({
      ...{ command, args, environment },
      ...(directory !== undefined && { directory }),
    });
    return {
      transport,
      lastWords: () => transport.lastWords,
      // The end of its input says it.
      sayGoodbye: async () => {},
      kill: () => transport.kill(),
    };
  };
}
