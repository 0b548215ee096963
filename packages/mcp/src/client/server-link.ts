/** A connection to an MCP server that is made again after it broke, and requests with a time limit. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { type EventSink, messageOf } from '@saccade/core';
import { ToolError } from '@saccade/tools';
import { z } from 'zod';

/** A way to a server, with the means to give it up at once and to say how it ended. */
export interface LinkTransport {
  readonly transport: Transport;
  /** How it ended and what it last said; empty if there is nothing to say. */
  lastWords(): string;
  /** Tells the server that it is over, if there is a way to; while the connection is open. */
  sayGoodbye(): Promise<void>;
  /** Gives it up without waiting. */
  kill(): Promise<void>;
}

export interface ServerLinkOptions {
  /** The name of the server in messages. */
  readonly label: string;
  /** For the connection, and for each page of the list of tools. */
  readonly startSeconds: number;
  /** For a call of a tool. */
  readonly timeoutSeconds: number;
  readonly onEvent: EventSink;
  /** A new way to the server, not started yet. */
  open(): LinkTransport;
}

/** The server says that the arguments do not fit: the model's mistake. */
export class RefusedArguments extends Error {}

/** Read by the schema of each request, whose fault is told apart from the connection's. */
const anyResult = z.looseObject({});

/** How long a server may take to show that it is alive, after it did not answer a call. */
const PING_MS = 5000;

interface Open {
  readonly client: Client;
  readonly way: LinkTransport;
}

export class ServerLink {
  readonly #options: ServerLinkOptions;
  #open: Promise<Open> | undefined;
  #isDisposed = false;
  #starts = 0;

  constructor(options: ServerLinkOptions) {
    this.#options = options;
  }

  /**
   * Sends a request and reads its result, over a new connection if there is none.
   *
   * @throws RefusedArguments if the server does not take the parameters
   * @throws ToolError if it is gone, hangs, or answers with something else
   * @throws the signal's reason if it is aborted
   */
  async request<Schema extends z.ZodType>(
    method: string,
    params: Readonly<Record<string, unknown>>,
    schema: Schema,
    signal?: AbortSignal,
  ): Promise<z.output<Schema>> {
    const result = await this.#result(method, params, signal);
    const parsed = schema.safeParse(result);
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    const where = issue?.path.map(String).join('.').slice(0, 100);
    throw this.#error(`answered ${method} with what is no result of it (at "${where}").`);
  }

  async #result(
    method: string,
    params: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
    isAgain = false,
  ): Promise<unknown> {
    signal?.throwIfAborted();
    const open = await this.#connected();
    signal?.throwIfAborted();
    const timeout = this.#secondsFor(method) * 1000;
    const limits = { timeout, maxTotalTimeout: timeout, ...(signal !== undefined && { signal }) };
    try {
      return await open.client.request({ method, params }, anyResult, limits);
    } catch (error) {
      signal?.throwIfAborted();
      // The server has ended the session and did nothing: the protocol has us begin another.
      const isForgotten = error instanceof StreamableHTTPError && error.code === 404;
      if (!isForgotten || isAgain) throw this.#asOurs(error, method, open);
      if ((await this.#open?.catch(() => undefined))?.client === open.client)
        this.#open = undefined;
      return await this.#result(method, params, signal, true);
    }
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    const open = await this.#open?.catch(() => undefined);
    this.#open = undefined;
    await open?.way.sayGoodbye();
    await open?.client.close().catch(() => {});
    await open?.way.kill();
  }

  async #connected(): Promise<Open> {
    if (this.#isDisposed) throw this.#error('was closed, as its run ended.');
    this.#open ??= this.#connect();
    const opening = this.#open;
    try {
      return await opening;
    } catch (error) {
      if (this.#open === opening) this.#open = undefined;
      throw error;
    }
  }

  async #connect(): Promise<Open> {
    const way = this.#options.open();
    if (this.#starts++ > 0) {
      this.#options.onEvent({
        kind: 'warning',
        message: `${this.#options.label} is started again.`,
      });
    }
    const client = new Client({ name: 'saccade', version: '0.1.0' });
    // Notifications and requests of the server are none of ours; what it writes wrong, neither.
    client.onerror = () => {};
    const open = { client, way };
    try {
      await client.connect(way.transport, { timeout: this.#options.startSeconds * 1000 });
    } catch (error) {
      await way.kill();
      const words = way.lastWords();
      throw this.#error(
        `could not be reached: ${reasonOf(error)}${words === '' ? '' : ` ${words}`}`,
      );
    }
    client.onclose = () => this.#forget(client);
    return open;
  }

  /** Whoever asks next connects anew. */
  #forget(client: Client): void {
    const opening = this.#open;
    void opening?.then(
      (open) => {
        if (open.client === client && this.#open === opening) this.#open = undefined;
      },
      () => {},
    );
  }

  #asOurs(error: unknown, method: string, open: Open): Error {
    const words = open.way.lastWords();
    const more = words === '' ? '' : ` ${words}`;
    if (!(error instanceof McpError)) {
      // A session that the server no longer has: the next call begins another.
      if (error instanceof StreamableHTTPError) this.#forget(open.client);
      return this.#error(`broke: ${reasonOf(error)}${more}`);
    }
    if (error.code === ErrorCode.InvalidParams) return new RefusedArguments(plainMessage(error));
    if (error.code === ErrorCode.RequestTimeout) {
      void this.#examine(open);
      return this.#error(`did not answer ${method} within ${this.#secondsFor(method)} s.${more}`);
    }
    if (error.code === ErrorCode.ConnectionClosed) return this.#error(`is gone.${more}`);
    return this.#error(`broke: ${plainMessage(error)}${more}`);
  }

  /** A slow call is no reason to end a server that others use; one that answers nothing is ended. */
  async #examine({ client, way }: Open): Promise<void> {
    try {
      await client.ping({ timeout: Math.min(PING_MS, this.#options.timeoutSeconds * 1000) });
    } catch {
      this.#forget(client);
      await way.kill();
      await client.close().catch(() => {});
    }
  }

  #secondsFor(method: string): number {
    const { startSeconds, timeoutSeconds } = this.#options;
    return method === 'tools/call' ? timeoutSeconds : startSeconds;
  }

  #error(what: string): ToolError {
    return new ToolError(`${this.#options.label} ${what}`);
  }
}

/** `fetch failed` says nothing; what is behind it does. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? messageOf(error) : `${messageOf(error)}: ${messageOf(cause)}`;
}

/** The SDK puts `MCP error <code>: ` before what the server said. */
function plainMessage({ message }: McpError): string {
  return message.replace(/^MCP error -?\d+: /, '').slice(0, 2000);
}
