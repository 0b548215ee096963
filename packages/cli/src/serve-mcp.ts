/** `saccade serve mcp`: our tools for any MCP client, over stdio or streamable HTTP. */
import { resolve } from 'node:path';
import { ConfigError, type EventSink } from '@saccade/core';
import { openMcpService, type ServedTools, serveMcpOverStdio } from '@saccade/mcp/serve';
import { openSandbox, type Sandbox } from '@saccade/sandbox';
import type { OpenTools } from '@saccade/tools';
import { applySettings, openRunTools, resolveRun, type Setting } from '@saccade/train';
import { type ListenFlags, listen } from './listen.ts';
import { openPython } from './shared.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface ServeMcpFlags extends ListenFlags {
  readonly stdio?: boolean;
  readonly tools?: string;
  readonly set: readonly Setting[];
  readonly images?: string;
  readonly maxSessions: number;
  readonly idleSeconds: number;
}

export async function serveMcp(flags: ServeMcpFlags): Promise<void> {
  const onEvent = terminalProgress({ stream: process.stderr });
  if (flags.stdio === true) return await serveStdio(flags, onEvent);
  const { maxSessions, idleSeconds } = flags;
  await listen(
    flags,
    async (listening) => {
      const { served, dispose } = await openServed(flags, onEvent);
      try {
        return await openMcpService({ ...served, ...listening, maxSessions, idleSeconds, dispose });
      } catch (error) {
        await dispose();
        throw error;
      }
    },
    ({ url }) => `MCP at ${url}/mcp`,
  );
}

/** Standard output belongs to the protocol: nothing else is written there. */
async function serveStdio(flags: ServeMcpFlags, onEvent: EventSink): Promise<void> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal);
  const { served, dispose } = await openServed(flags, onEvent);
  try {
    await serveMcpOverStdio({ ...served, signal: stop.signal, onFault: console.error });
  } finally {
    await dispose();
  }
}

async function openServed(
  flags: ServeMcpFlags,
  onEvent: EventSink,
): Promise<{ readonly served: ServedTools; dispose(): Promise<void> }> {
  const base = {
    ...({ protocol: 'vista', coldStart: null, sft: { updates: 0 } } as const),
    ...(flags.tools !== undefined && { tools: flags.tools }),
  };
  const strange = flags.set.find(({ path }) => !path.startsWith('tools.'));
  if (strange !== undefined) {
    throw new ConfigError(
      '--set',
      `--set ${strange.path}: only settings of tools have a use here.`,
    );
  }
  const python = (): Promise<string> => openPython(onEvent);
  const tools: OpenTools = await openRunTools(resolveRun(applySettings(base, flags.set)), {
    python,
    onEvent,
  });
  // Opened by the first tool that runs something: a client may only want to know what there is.
  let sandbox: Promise<Sandbox> | undefined;
  const open: Sandbox['open'] = async (options) => {
    sandbox ??= python().then((path) => openSandbox({ python: path, onEvent }));
    return await (await sandbox).open(options);
  };
  return {
    served: {
      ...{ tools: tools.tools, sandbox: { open } },
      ...(flags.images !== undefined && { imageFolder: resolve(flags.images) }),
    },
    async dispose() {
      await tools.dispose();
      await (await sandbox?.catch(() => undefined))?.dispose();
    },
  };
}
