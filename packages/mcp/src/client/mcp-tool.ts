/** A tool of a server as a tool of a run. */
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { messageOf } from '@saccade/core';
import { refused, type Tool } from '@saccade/tools';
import { type ArgumentCheck, closedSchema, compileCheck } from './check-arguments.ts';
import { exampleOf } from './example-of.ts';
import { fillImages, type ImageArgument, shownSchema } from './image-arguments.ts';
import type { ListedTool } from './list-tools.ts';
import { readResult } from './read-result.ts';
import { RefusedArguments, type ServerLink } from './server-link.ts';

export interface McpToolOptions {
  /** As the model writes it. */
  readonly name: string;
  readonly link: ServerLink;
  /** The arguments of the tool that get images. */
  readonly images: readonly ImageArgument[];
  /** For images that are handed over as files. */
  readonly directory: string;
}

const LONGEST_DESCRIPTION = 4000;

/** The tool, or why its schema cannot be used. */
export function mcpTool(
  listed: ListedTool,
  { name, link, images, directory }: McpToolOptions,
): { readonly tool: Tool } | { readonly problem: string } {
  const shown = shownSchema(listed.inputSchema, images);
  const parameters = closedSchema(shown);
  let check: ArgumentCheck;
  try {
    const { $schema } = listed.inputSchema;
    check = compileCheck({ ...parameters, ...($schema !== undefined && { $schema }) });
  } catch (error) {
    return { problem: messageOf(error) };
  }
  const call: Tool['call'] = async (given, context) => {
    const problem = check(given);
    if (problem !== undefined) return refused(problem.type, problem.message);
    const filled = await fillImages(given, images, context.images, directory);
    if ('problem' in filled) return refused('BadArgument', filled.problem);
    const began = performance.now();
    try {
      const params = { name: listed.name, arguments: filled.arguments };
      const result = await link.request('tools/call', params, CallToolResultSchema, context.signal);
      return await readResult(result, performance.now() - began);
    } catch (error) {
      if (error instanceof RefusedArguments) return refused('BadArgument', error.message);
      throw error;
    } finally {
      await filled.cleanUp();
    }
  };
  return {
    tool: { name, description: describe(listed), parameters, example: exampleOf(parameters), call },
  };
}

/** The server's description of its tool, on one line: in a prompt it is no more than that. */
function describe({ name, description = '' }: ListedTool): string {
  const line = description.replace(/\s+/g, ' ').trim();
  if (line === '') return `The tool ${name.slice(0, 100)} of an MCP server.`;
  return line.length > LONGEST_DESCRIPTION ? `${line.slice(0, LONGEST_DESCRIPTION)}...` : line;
}
