/** Calls a tool by name. */
import { messageOf } from '@saccade/core';
import { type Outcome, SandboxError } from '@saccade/sandbox';
import { ToolError } from './errors.ts';
import { checkImage, MOST_IMAGE_PIXELS } from './png.ts';
import { refused } from './refused.ts';
import type { GivenArguments, Tool, ToolContext } from './tool.ts';

/** A call as the model writes it, with arguments that are not checked yet. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: GivenArguments;
}

/**
 * Calls the tool of that name. An unknown name is an outcome like any other: `exception`, with
 * `UnknownTool` as the error's type. So is what a tool says; its images are whole PNG files of the size
 * that it says.
 *
 * @throws SandboxError if the infrastructure fails, ToolError if the tool itself does, or gives no outcome
 * @throws the signal's reason if it is aborted
 */
export async function callTool(
  tools: readonly Tool[],
  call: ToolCall,
  context: ToolContext,
): Promise<Outcome> {
  const tool = tools.find(({ name }) => name === call.name);
  if (tool !== undefined) return await guarded(tool, call, context);
  const known = tools.map(({ name }) => name).join(', ') || 'none';
  return refused('UnknownTool', `There is no such tool. Known: ${known}.`);
}

async function guarded(tool: Tool, call: ToolCall, context: ToolContext): Promise<Outcome> {
  try {
    const outcome = await tool.call(call.arguments, context);
    // Tools are services of others: what they give is not what the types say.
    const { kind, images } = (outcome ?? {}) as Partial<Outcome>;
    if (typeof kind !== 'string' || !Array.isArray(images)) {
      throw new ToolError('it gave no outcome.');
    }
    for (const [index, image] of images.entries()) {
      checkImage(image, `image ${index} of its outcome`, MOST_IMAGE_PIXELS);
    }
    return outcome;
  } catch (error) {
    context.signal?.throwIfAborted();
    if (error instanceof SandboxError) throw error;
    const message = `The tool ${tool.name} broke: ${messageOf(error)}`;
    throw new ToolError(message, { cause: error });
  }
}
