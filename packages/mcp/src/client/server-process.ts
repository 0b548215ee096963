/** An MCP server as a child process: one JSON-RPC message a line on its stdin and stdout. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { messageOf } from '@saccade/core';
import { keptCommand } from './keeper.ts';
import { LineReader } from './line-reader.ts';
import { readMessage } from './read-message.ts';

export interface ServerProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly directory?: string;
  /** Beside HOME, PATH and the like. */
  readonly environment: Readonly<Record<string, string>>;
  /** Longest message. Default 64 MiB. */
  readonly maxBytes?: number;
}

/** Kept of what a server writes to stderr, characters. */
const KEPT_ERRORS = 2000;
/** From the end of its input to SIGTERM, and from there to SIGKILL. */
const PATIENCE_MS = 500;

export class ServerProcess implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: ServerProcessOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #errors = '';
  #end = '';

  constructor(options: ServerProcessOptions) {
    this.#options = options;
  }

  /** How it ended and what it last said, for messages; empty while it is fine and quiet. */
  get lastWords(): string {
    const said = this.#errors.trim();
    return [this.#end, said === '' ? '' : `It said: ${said}`]
      .filter((text) => text !== '')
      .join(' ');
  }

  async start(): Promise<void> {
    const { command, args, isKept } = keptCommand(this.#options.command, this.#options.args);
    const { directory, environment, maxBytes = 64 * 2 ** 20 } = this.#options;
    const child = spawn(command, args, {
      env: { ...getDefaultEnvironment(), ...environment },
      stdio: isKept ? ['pipe', 'pipe', 'pipe', 'pipe'] : ['pipe', 'pipe', 'pipe'],
      detached: isKept,
      windowsHide: true,
      ...(directory !== undefined && { cwd: directory }),
    });
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      const ended = (how: string): void => {
        this.#end ||= how;
        this.#signal('SIGKILL');
        resolve();
        this.onclose?.();
      };
      child.once('error', (error) => ended(`It cannot be started: ${messageOf(error)}.`));
      child.once('exit', (code, signal) => {
        ended(signal === null ? `It ended with status ${code}.` : `It ended by ${signal}.`);
      });
    });
    const reader = new LineReader(maxBytes, (line) => this.#read(line));
    child.stdout?.on('data', (piece: Buffer) => {
      if (reader.push(piece)) return;
      this.#end = `It wrote a message of more than ${maxBytes} bytes.`;
      this.#signal('SIGKILL');
    });
    child.stderr?.on('data', (piece: Buffer) => {
      this.#errors = (this.#errors + piece.toString()).slice(-KEPT_ERRORS);
    });
    // A server that is gone is told by its exit; a broken pipe says nothing more.
    for (const stream of [child.stdin, child.stdout, child.stderr, child.stdio[3]]) {
      stream?.on('error', () => {});
    }
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (input === null || input === undefined || !input.writable) {
      throw new Error('The server is not running.');
    }
    try {
      await written(input, `${JSON.stringify(message)}\n`);
    } catch (error) {
      // A server that closed its input is about to end, and how it ends says more than this error.
      await this.#hasEndedWithin(PATIENCE_MS);
      throw error;
    }
  }

  /** Ends its input, then terminates, then kills it and whatever it started. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    child.stdin?.end();
    if (await this.#hasEndedWithin(PATIENCE_MS)) return;
    this.#signal('SIGTERM');
    if (await this.#hasEndedWithin(PATIENCE_MS)) return;
    this.#signal('SIGKILL');
    await this.#ended;
  }

  /** Without patience, for a server that hangs. */
  async kill(): Promise<void> {
    this.#signal('SIGKILL');
    await this.#ended;
  }

  #read(line: string): void {
    const { message, problem } = readMessage(line);
    if (problem !== undefined) this.onerror?.(new Error(problem));
    if (message !== undefined) this.onmessage?.(message);
  }

  async #hasEndedWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const ended = await Promise.race([this.#ended.then(() => true), late]);
    clearTimeout(timer);
    return ended;
  }

  /** To the whole group, which is there while anything of it is, also after its leader's end. */
  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child ?? {};
    if (pid === undefined) return;
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, signal);
    } catch {
      // Nothing of it is left.
    }
  }
}

function written(input: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    input.write(text, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}
