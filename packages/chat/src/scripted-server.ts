/**
 * A chat server with given replies and given faults, for trying out what asks one. Node only.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A part of a message as it was sent. */
export type SentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** A message as it was sent. */
export interface SentMessage {
  readonly role: string;
  readonly content: string | readonly SentPart[] | null;
  readonly tool_calls?: readonly unknown[];
}

/** The body of a request as it was sent, and its key. */
export interface SentRequest {
  readonly model: string;
  readonly messages: readonly SentMessage[];
  readonly stream?: boolean;
  readonly stop?: readonly string[];
  readonly temperature?: number;
  readonly seed?: number;
  readonly [field: string]: unknown;
}

/** What the server does with a request. */
export type ScriptedAnswer =
  /** Says a text. It is cut before the first stop string that was asked for, as servers do. */
  | {
      readonly say: string | null;
      readonly finish?: string;
      readonly toolCalls?: readonly { readonly name: string; readonly arguments: string }[];
      readonly usage?: {
        readonly prompt_tokens: number;
        readonly completion_tokens: number;
      } | null;
      /** Ignores stop strings, as some servers do. */
      readonly ignoresStop?: boolean;
    }
  /** Answers with a status. */
  | { readonly status: number; readonly retryAfter?: string; readonly body?: string }
  /** Says a part of a text, then breaks the connection, or falls silent for ever. */
  | { readonly say: string; readonly fault: 'break' | 'hang' }
  /** Sends bytes as they are. */
  | { readonly raw: string };

/** Decides what to do with a request; `call` counts requests from 0. */
export type ServerScript = (
  request: SentRequest,
  call: number,
) => ScriptedAnswer | Promise<ScriptedAnswer>;

/** A server that is running. */
export interface ScriptedServer {
  /** Up to and with `/v1`. */
  readonly baseUrl: string;
  /** What it was asked so far; the images too, which may be much. */
  readonly requests: readonly SentRequest[];
  /** Most requests that were open at a time. */
  readonly mostOpen: number;
  close(): Promise<void>;
}

/** Starts a server on the loopback interface. */
export async function openScriptedServer(
  script: ServerScript,
  options: { readonly port?: number; readonly keepsRequests?: boolean } = {},
): Promise<ScriptedServer> {
  const { port = 0, keepsRequests = true } = options;
  const requests: SentRequest[] = [];
  let calls = 0;
  let open = 0;
  let mostOpen = 0;
  const server = createServer(async (incoming, response) => {
    mostOpen = Math.max(mostOpen, ++open);
    response.on('close', () => open--);
    try {
      const request = JSON.parse(await bodyOf(incoming)) as SentRequest;
      if (keepsRequests) requests.push(request);
      answer(request, await script(request, calls++), response);
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    get mostOpen() {
      return mostOpen;
    },
    close: () => close(server),
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

function answer(request: SentRequest, scripted: ScriptedAnswer, response: ServerResponse): void {
  if ('status' in scripted) {
    const { status, retryAfter, body = '' } = scripted;
    response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
    response.end(body);
  } else if ('raw' in scripted) response.end(scripted.raw);
  else if ('fault' in scripted) cut(request, scripted, response);
  else say(request, scripted, response);
}

function cut(
  request: SentRequest,
  { say, fault }: { readonly say: string; readonly fault: 'break' | 'hang' },
  response: ServerResponse,
): void {
  if (request.stream === true) {
    head(response);
    chunk(response, { choices: [{ delta: { role: 'assistant', content: say } }] });
  } else response.write(`{"choices":[{"message":{"content":${JSON.stringify(say).slice(0, -1)}`);
  if (fault === 'break') setTimeout(() => response.destroy(), 5);
}

function say(
  request: SentRequest,
  scripted: Extract<ScriptedAnswer, { say: string | null }> & { readonly finish?: string },
  response: ServerResponse,
): void {
  const { toolCalls = [], ignoresStop = false } = scripted as {
    readonly toolCalls?: readonly { readonly name: string; readonly arguments: string }[];
    readonly ignoresStop?: boolean;
  };
  const stops = ignoresStop ? [] : (request.stop ?? []);
  const ends = stops.map((stop) => scripted.say?.indexOf(stop) ?? -1).filter((at) => at >= 0);
  const text = ends.length > 0 ? (scripted.say ?? '').slice(0, Math.min(...ends)) : scripted.say;
  const finish = scripted.finish ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop');
  const usage = 'usage' in scripted ? scripted.usage : usageOf(request, text ?? '');
  const calls = toolCalls.map((call, index) => ({
    ...{ index, id: `call-${index}`, type: 'function', function: call },
  }));
  const said = { role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls: calls }) };
  if (request.stream !== true) {
    response.setHeader('content-type', 'application/json');
    const choice = { index: 0, message: said, finish_reason: finish };
    response.end(JSON.stringify({ object: 'chat.completion', choices: [choice], usage }));
    return;
  }
  head(response);
  // Two pieces, so that a reader has something to join.
  const half = Math.ceil((text?.length ?? 0) / 2);
  chunk(response, { choices: [{ index: 0, delta: { ...said, content: text?.slice(0, half) } }] });
  if (text !== null) {
    chunk(response, { choices: [{ index: 0, delta: { content: text.slice(half) } }] });
  }
  chunk(response, { choices: [{ index: 0, delta: {}, finish_reason: finish }] });
  if (usage) chunk(response, { choices: [], usage });
  response.end('data: [DONE]\n\n');
}

/** Four characters a token, and 256 tokens an image. */
function usageOf({ messages }: SentRequest, text: string) {
  let characters = 0;
  for (const { content } of messages) {
    if (typeof content === 'string') characters += content.length;
    else
      for (const part of content ?? [])
        characters += part.type === 'text' ? part.text.length : 1024;
  }
  const [prompt_tokens, completion_tokens] = [characters, text.length].map((n) => Math.ceil(n / 4));
  return {
    prompt_tokens: prompt_tokens ?? 0,
    completion_tokens: Math.max(1, completion_tokens ?? 0),
  };
}

function head(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

function chunk(response: ServerResponse, data: object): void {
  response.write(`data: ${JSON.stringify({ object: 'chat.completion.chunk', ...data })}\n\n`);
}

/** All text of a request, for scripts that read it. */
export function sentText({ messages }: SentRequest): string {
  return messages
    .flatMap(({ content }) =>
      typeof content === 'string'
        ? [content]
        : (content ?? []).map((part) => (part.type === 'text' ? part.text : '[image]')),
    )
    .join('\n');
}
