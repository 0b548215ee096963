/** Calls a tool by name. */
import type { Outcome } from '@saccade/sandbox';
import { refused } from './refused.ts';
import type { GivenArguments, Tool, ToolContext } from './tool.ts';

export interface ToolCall {
  readonly name: string;
  readonly arguments: GivenArguments;
}

/**
 * Calls the tool of that name. An unknown name is an outcome like any other: `exception`, with
 * `UnknownTool` as the error's type.
 *
 * @throws SandboxError if the infrastructure fails
 */
export async function callTool(
  tools: readonly Tool[],
  call: ToolCall,
  context: ToolContext,
): Promise<Outcome> {
  const tool = tools.find(({ name }) => name === call.name);
  if (tool !== undefined) return await tool.call(call.arguments, context);
  const known = tools.map(({ name }) => name).join(', ') || 'none';
  return refused('UnknownTool', `There is no such tool. Known: ${known}.`);
}
