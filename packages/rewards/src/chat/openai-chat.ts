/** A model behind an OpenAI-compatible server: vLLM, SGLang, llama.cpp, Ollama, or the service. */
import { messageOf } from '@saccade/core';
import { ChatError } from './chat-error.ts';
import type { ChatMessage, ChatModel, ChatOptions, ChatPart } from './chat-model.ts';

export interface OpenAiChatOptions {
  /** Up to and without `/chat/completions`: `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** Sent as a bearer token; never part of a message or an error. */
  readonly apiKey?: string;
  /** Default 0; servers that know no seed ignore it. */
  readonly seed?: number;
}

/** Longest part of a server's words that an error repeats. */
const quotedCharacters = 300;

export function openAiChat(options: OpenAiChatOptions): ChatModel {
  const { baseUrl, model, apiKey, seed = 0 } = options;
  const url = `${baseUrl.replace(/\/+$/, '')}/chat/completions`;
  const headers = {
    'content-type': 'application/json',
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
  };
  return {
    name: `${model} at ${baseUrl}`,
    async reply(messages, chat) {
      const body = JSON.stringify(requestOf(model, seed, messages, chat));
      const response = await post(url, headers, body, chat.signal);
      const text = await response.text().catch((error: unknown) => {
        throw new ChatError(`${url} broke off its reply: ${messageOf(error)}. Try again.`, {
          isTransient: true,
          cause: error,
        });
      });
      if (!response.ok) throw refusal(url, response, text);
      return contentOf(url, text);
    },
  };
}

async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal | undefined,
): Promise<Response> {
  try {
    return await fetch(url, { method: 'POST', headers, body, ...(signal && { signal }) });
  } catch (error) {
    const reason =
      error instanceof Error && error.cause ? messageOf(error.cause) : messageOf(error);
    throw new ChatError(
      `${url} cannot be reached: ${reason}. Start the server or change the URL.`,
      {
        isTransient: true,
        cause: error,
      },
    );
  }
}

function refusal(url: string, response: Response, text: string): ChatError {
  const { status } = response;
  const isTransient = status === 408 || status === 409 || status === 429 || status >= 500;
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const remedy = isTransient ? 'It may answer later.' : 'Check the model, the key and the request.';
  return new ChatError(
    `${url} answered ${status}: ${text.slice(0, quotedCharacters).trim()}. ${remedy}`,
    { isTransient, ...(Number.isFinite(seconds) && { retryAfterMs: 1000 * seconds }) },
  );
}

function requestOf(
  model: string,
  seed: number,
  messages: readonly ChatMessage[],
  options: ChatOptions,
): unknown {
  return {
    model,
    seed,
    temperature: options.temperature,
    max_tokens: options.maxTokens,
    messages: messages.map(({ role, parts }) => ({ role, content: parts.map(partOf) })),
  };
}

function partOf(part: ChatPart): unknown {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  let binary = '';
  for (let at = 0; at < part.png.length; at += 0x8000) {
    binary += String.fromCharCode(...part.png.subarray(at, at + 0x8000));
  }
  return { type: 'image_url', image_url: { url: `data:image/png;base64,${btoa(binary)}` } };
}

interface Completion {
  readonly choices?: readonly { readonly message?: { readonly content?: unknown } }[];
}

function contentOf(url: string, text: string): string {
  let content: unknown;
  try {
    content = (JSON.parse(text) as Completion | null)?.choices?.[0]?.message?.content;
  } catch {
    content = undefined;
  }
  if (typeof content === 'string') return content;
  throw new ChatError(
    `${url} gave no choices[0].message.content: ${text.slice(0, quotedCharacters)}. ` +
      'Use a server that speaks the chat completions protocol.',
    { isTransient: false },
  );
}
