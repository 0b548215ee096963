/** The tools of a server, page by page. */
import { ToolError } from '@saccade/tools';
import { z } from 'zod';
import type { ServerLink } from './server-link.ts';

const listed = z.object({
  name: z.string().min(1).max(1000),
  description: z.string().optional(),
  inputSchema: z.looseObject({
    type: z.literal('object'),
    properties: z.record(z.string(), z.unknown()).default({}),
    required: z.array(z.string()).optional(),
  }),
});

/** A tool as its server describes it. */
export type ListedTool = z.output<typeof listed>;

const page = z.object({ tools: z.array(listed), nextCursor: z.string().optional() });

const MOST_PAGES = 100;
const MOST_TOOLS = 1000;

/** @throws ToolError if the list does not end, or is none */
export async function listTools(link: ServerLink): Promise<readonly ListedTool[]> {
  const tools: ListedTool[] = [];
  const cursors = new Set<string>();
  for (let cursor: string | undefined; ; ) {
    const { tools: some, nextCursor } = await link.request(
      'tools/list',
      cursor === undefined ? {} : { cursor },
      page,
    );
    tools.push(...some);
    if (nextCursor === undefined) return tools;
    if (cursors.has(nextCursor) || cursors.size >= MOST_PAGES || tools.length > MOST_TOOLS) {
      throw new ToolError(
        `The MCP server lists its tools without an end (${tools.length} so far). Use another one.`,
      );
    }
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
}
