/** A reply of a model, read from one JSON object or put together from the pieces of a stream. */
import { parseJson } from '@saccade/http';
import { z } from 'zod';
import { ChatError } from './chat-error.ts';
import type { ChatToolCall } from './chat-model.ts';

/** Why a reply ended; `filtered` by the server's rules, `other` for a word that is not known. */
export type ChatFinish = 'stop' | 'length' | 'toolCalls' | 'filtered' | 'other';

/** Tokens of one request, as the server counts them. */
export interface TokenCounts {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** One reply. */
export interface ChatReply {
  readonly text: string;
  /** Thoughts that the server gives apart from the text. */
  readonly reasoning?: string;
  readonly toolCalls: readonly ChatToolCall[];
  readonly finish: ChatFinish;
  /** The stop string that ended it, where the server tells. */
  readonly stopString?: string;
  /** Absent where the server does not count. */
  readonly usage?: TokenCounts;
}

const usage = z.object({ prompt_tokens: z.number(), completion_tokens: z.number() });
const text = z.union([z.string(), z.null()]).optional();
const call = z.object({
  index: z.number().optional(),
  id: text,
  function: z.object({ name: text, arguments: text }).optional(),
});
const said = z.object({
  content: z
    .union([z.string(), z.null(), z.array(z.object({ text: z.string().optional() }))])
    .optional(),
  reasoning_content: text,
  reasoning: text,
  tool_calls: z.union([z.array(call), z.null()]).optional(),
});
const answer = z.object({
  choices: z
    .array(
      z.object({
        message: said.optional(),
        delta: said.optional(),
        finish_reason: text,
        stop_reason: z.unknown().optional(),
      }),
    )
    .optional(),
  usage: z.union([usage, z.null()]).optional(),
  error: z.unknown().optional(),
});

/** Longest part of a server's words that an error repeats. */
const QUOTED_CHARACTERS = 300;

const finishes: Readonly<Record<string, ChatFinish>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'toolCalls',
  function_call: 'toolCalls',
  content_filter: 'filtered',
};

/** Puts the pieces of a reply together: chunks of a stream, or one whole completion. */
export class ReplyReader {
  readonly #url: string;
  readonly #calls = new Map<number, { id: string; name: string; arguments: string }>();
  #text: string | undefined;
  #reasoning = '';
  #finish: string | undefined;
  #stopString: string | undefined;
  #usage: TokenCounts | undefined;
  #last = '';

  /** @param url names the server in errors */
  constructor(url: string) {
    this.#url = url;
  }

  /** Text so far. */
  get text(): string {
    return this.#text ?? '';
  }

  /** @throws ChatError if it is an error of the server, or nothing that a chat server says */
  add(json: string): void {
    this.#last = json;
    const { choices = [], usage: counted, error } = this.#read(json);
    if (error !== undefined && error !== null) {
      const message = (error as { readonly message?: unknown }).message ?? error;
      throw new ChatError(
        'failed',
        `${this.#url} ended its reply with an error: ${quoted(message)}. It may answer later.`,
        { isTransient: true },
      );
    }
    if (counted) {
      const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = counted;
      this.#usage = { promptTokens, completionTokens };
    }
    const [choice] = choices;
    if (choice === undefined) return;
    const { content, reasoning_content, reasoning, tool_calls } =
      choice.message ?? choice.delta ?? {};
    const piece = Array.isArray(content)
      ? content.map((part) => part.text ?? '').join('')
      : content;
    if (typeof piece === 'string') this.#text = (this.#text ?? '') + piece;
    this.#reasoning += reasoning_content ?? reasoning ?? '';
    (tool_calls ?? []).forEach((made, at) => {
      const index = made.index ?? at;
      const known = this.#calls.get(index) ?? { id: '', name: '', arguments: '' };
      known.id ||= made.id ?? '';
      known.name ||= made.function?.name ?? '';
      known.arguments += made.function?.arguments ?? '';
      this.#calls.set(index, known);
    });
    if (typeof choice.finish_reason === 'string') this.#finish = choice.finish_reason;
    if (typeof choice.stop_reason === 'string') this.#stopString = choice.stop_reason;
  }

  /** @throws ChatError if the reply is not whole, or says nothing */
  finish(): ChatReply {
    const toolCalls = [...this.#calls.values()];
    if (this.#text === undefined && toolCalls.length === 0 && this.#finish !== 'length') {
      throw new ChatError(
        'garbled',
        `${this.#url} gave no choices[0].message.content: ${this.#last.slice(0, QUOTED_CHARACTERS)}. ` +
          'Use a server that speaks the chat completions protocol.',
        { isTransient: false },
      );
    }
    // A model may end its turn at once, which costs a token; without one there was no reply.
    const isEmpty = this.text === '' && toolCalls.length === 0 && this.#finish !== 'length';
    if (isEmpty && (this.#usage?.completionTokens ?? 0) === 0) {
      throw new ChatError('empty', `${this.#url} gave an empty reply. It may answer later.`, {
        isTransient: true,
      });
    }
    return {
      text: this.text,
      toolCalls,
      finish: this.#finish === undefined ? 'other' : (finishes[this.#finish] ?? 'other'),
      ...(this.#reasoning !== '' && { reasoning: this.#reasoning }),
      ...(this.#stopString !== undefined && { stopString: this.#stopString }),
      ...(this.#usage && { usage: this.#usage }),
    };
  }

  /** @throws ChatError unless the server has said why the reply ended: it broke off before */
  checkEnded(): void {
    if (this.#finish !== undefined) return;
    throw new ChatError(
      'broken',
      `${this.#url} broke off after ${this.text.length} characters of its reply. It may answer later.`,
      { isTransient: true },
    );
  }

  #read(json: string): z.output<typeof answer> {
    let read: unknown;
    try {
      read = parseJson(json);
    } catch {
      read = undefined;
    }
    const parsed = answer.safeParse(read);
    if (parsed.success) return parsed.data;
    throw new ChatError(
      'garbled',
      `${this.#url} gave no choices[0].message.content: ${json.slice(0, QUOTED_CHARACTERS)}. ` +
        'Use a server that speaks the chat completions protocol.',
      { isTransient: false },
    );
  }
}

function quoted(value: unknown): string {
  const words = typeof value === 'string' ? value : JSON.stringify(value);
  return words.slice(0, QUOTED_CHARACTERS);
}
