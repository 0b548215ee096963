/** One client's session: our tools behind the SDK's server, with the images of that client. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { ConfigError, messageOf } from '@saccade/core';
import type { Sandbox } from '@saccade/sandbox';
import { callTool, type Tool } from '@saccade/tools';
import { ADD_IMAGE, addImageTool } from './add-image.ts';
import { answerOf } from './answer.ts';
import { ImageList, type ImageListLimits } from './image-list.ts';

/** The tools to serve, and how they are served. */
export interface ServedTools {
  readonly tools: readonly Tool[];
  /** Where tools run what they do to images. */
  readonly sandbox: Pick<Sandbox, 'open'>;
  /** Images below this folder may be named by their path; without it only sent ones are used. */
  readonly imageFolder?: string;
  /** Limits on the images of each session. */
  readonly limits?: ImageListLimits;
  /** Told of faults: a tool or the sandbox broke. Default: nobody. */
  readonly onFault?: (error: unknown) => void;
}

/** Aborts what runs for a request, where the transport knows of its end. */
export const requestSignal = new AsyncLocalStorage<AbortSignal>();

/** @throws ConfigError if a tool has the name of the one that adds images */
export function newToolServer(served: ServedTools): Server {
  const own = addImageTool(served.imageFolder);
  if (served.tools.some(({ name }) => name === ADD_IMAGE)) {
    throw new ConfigError(
      'tools',
      `tools: ${ADD_IMAGE} is the server's own. Leave the other one out.`,
    );
  }
  const tools = [own, ...served.tools];
  const list = new ImageList(served.limits);
  const server = new Server(
    { name: 'saccade', version: '0.1.0' },
    {
      capabilities: { tools: {} },
      instructions:
        'Add images with add_image; image_index counts them from 0. Images that tools give are ' +
        'added too, and their names say their index.',
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, parameters }) => ({
      ...{ name, description },
      inputSchema: parameters as { type: 'object' },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const { name, arguments: given = {} } = params;
    const outer = requestSignal.getStore();
    const context = {
      images: [...list.images],
      sandbox: served.sandbox,
      signal: outer === undefined ? signal : AbortSignal.any([signal, outer]),
    };
    try {
      const outcome = await callTool(tools, { name, arguments: given }, context);
      if (outcome.kind === 'infraError')
        throw new Error(outcome.error?.message ?? 'no reason given');
      return answerOf(outcome, list);
    } catch (error) {
      // Not the caller's mistake: an error of the protocol, so that no model is told to try others.
      if (!context.signal.aborted) served.onFault?.(error);
      // The SDK answers with the code of internal errors; an McpError would get its prefix twice.
      throw new Error(messageOf(error), { cause: error });
    }
  });
  return server;
}
