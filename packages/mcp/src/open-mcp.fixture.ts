/** Opens the unit as a run does, for the tests of this package. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { RunEvent } from '@saccade/core';
import { readSettings, type SettingsInput } from '@saccade/core/settings';
import type { OpenTools, ToolContext, ToolHost } from '@saccade/tools';
import { hostileServer } from './client/hostile-server.fixture.ts';
import { mcp } from './units/mcp.ts';

/** A published server that shows every feature of the protocol. */
export const everything: string = join(
  dirname(
    createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json'),
  ),
  'dist/index.js',
);

export interface OpenMcp extends OpenTools {
  readonly events: readonly RunEvent[];
  /** The messages of the warnings among the events. */
  warnings(): readonly string[];
}

export async function openMcp(given: SettingsInput<typeof mcp.settings>): Promise<OpenMcp> {
  const events: RunEvent[] = [];
  const host: ToolHost = {
    python: async () => '',
    onEvent: (event) => void events.push(event),
    secret: (_, variable) => `secret of ${variable}`,
  };
  const open = await mcp.open(readSettings('tools.mcp', mcp.settings, given), host);
  return {
    ...open,
    events,
    warnings: () => events.flatMap((one) => (one.kind === 'warning' ? [one.message] : [])),
  };
}

export function openHostile(
  mode: string,
  more: SettingsInput<typeof mcp.settings> = {},
): Promise<OpenMcp> {
  return openMcp({ ...hostileServer(mode), timeoutSeconds: 20, ...more });
}

/** No images, and no sandbox: MCP tools need none. */
export const nothing: ToolContext = {
  images: [],
  sandbox: {
    open: async () => {
      throw new Error('not used');
    },
  },
};
