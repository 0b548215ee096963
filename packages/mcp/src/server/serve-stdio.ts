/** Our tools for the client that started this process: over its stdin and stdout. */
import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { newToolServer, type ServedTools } from './tool-server.ts';

/** How tools are served over stdio: the streams, and what ends it. */
export interface StdioOptions extends ServedTools {
  /** Default: those of the process. Nothing else may write to the output. */
  readonly input?: Readable;
  readonly output?: Writable;
  /** Ends it. */
  readonly signal?: AbortSignal;
}

/** Longest message, bytes: an image of 24 MiB in base64 fits. */
const MOST_BYTES = 40 * 2 ** 20;

/** Serves until the client ends the input, or the signal is aborted. */
export async function serveMcpOverStdio(options: StdioOptions): Promise<void> {
  const { input = process.stdin, output = process.stdout, signal } = options;
  const server = newToolServer(options);
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MOST_BYTES });
  const ended = new Promise<void>((resolve) => {
    input.once('end', resolve);
    input.once('close', resolve);
    // A client that is gone reads no answers.
    output.once('error', () => resolve());
    output.once('close', () => resolve());
    signal?.addEventListener('abort', () => resolve(), { once: true });
    if (signal?.aborted === true) resolve();
    server.onclose = resolve;
  });
  await server.connect(transport);
  await ended;
  await server.close();
}
