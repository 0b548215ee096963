/** A model behind an OpenAI-compatible server: vLLM, SGLang, llama.cpp, Ollama, or the service. */
import { HttpClient, HttpError, parseJson } from '@saccade/http';
import { ChatError } from './chat-error.ts';
import type { ChatMessage, ChatModel, ChatOptions, ChatPart } from './chat-model.ts';

/** Address, model and seed of an OpenAI-compatible server. */
export interface OpenAiChatOptions {
  /** Up to and without `/chat/completions`: `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** Sent as a bearer token; never part of a message or an error. */
  readonly apiKey?: string;
  /** Default 0; servers that know no seed ignore it. */
  readonly seed?: number;
}

/** Larger replies are no replies to a judge's questions. */
const LARGEST_REPLY_BYTES = 16 * 2 ** 20;

/** Longest part of a server's words that an error repeats. */
const quotedCharacters = 300;

/**
 * A model behind `/chat/completions` of an OpenAI-compatible server. It neither retries nor limits
 * the time: wrap it in `steadyChat`. An HTTP error, or a reply without text, is a `ChatError`.
 */
export function openAiChat(options: OpenAiChatOptions): ChatModel {
  const { baseUrl, model, apiKey, seed = 0 } = options;
  const path = '/chat/completions';
  // `steadyChat` retries and limits the time, for models of any kind.
  const client = new HttpClient({
    ...{ baseUrl, timeoutSeconds: Number.POSITIVE_INFINITY, retries: 0 },
    ...{ maxAnswerBytes: LARGEST_REPLY_BYTES },
    ...(apiKey !== undefined && { token: apiKey }),
  });
  return {
    name: `${model} at ${baseUrl}`,
    async reply(messages, { signal, ...chat }) {
      const body = JSON.stringify(requestOf(model, seed, messages, chat));
      try {
        const request = { method: 'POST', path, body, ...(signal && { signal }) } as const;
        return contentOf(`${client.url}${path}`, await client.text(request));
      } catch (error) {
        throw error instanceof HttpError ? chatError(error) : error;
      }
    },
  };
}

function chatError(error: HttpError): ChatError {
  const { status, retryAfterMs, message } = error;
  const isTransient = error.isTransient || status === 408 || status === 409;
  const remedy =
    status === undefined
      ? ''
      : isTransient
        ? ' It may answer later.'
        : ' Check the model, the key and the request.';
  return new ChatError(`${message}${remedy}`, {
    ...{ isTransient, cause: error },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
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
    content = (parseJson(text) as Completion | null)?.choices?.[0]?.message?.content;
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
