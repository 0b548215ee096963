/** A model behind a chat API as the sampler of rollouts: it plays any protocol in the real environments. */
import {
  type ChatClientOptions,
  ChatError,
  type ChatReply,
  type ChatUsage,
  chatSettings,
  openChatClient,
} from '@saccade/chat';
import { diskReplyCache } from '@saccade/chat/reply-cache';
import {
  choice,
  count,
  flag,
  optionalCount,
  optionalText,
  readSettings,
  type SettingsInput,
} from '@saccade/core/settings';
import type { SampleRequest, SampleResult, Sampler } from '@saccade/policy';
import { z } from 'zod';
import { ChatProcessor } from './chat-processor.ts';

/** Settings of a chat player: those of its client, and how it plays. */
export const chatPlayerSettings = z.strictObject({
  ...chatSettings.omit({ keyVariable: true }).shape,
  cacheDirectory: optionalText({
    unit: 'directory',
    about: 'Where replies are kept, so that equal requests are paid for once; unset: nowhere.',
  }),
  instructions: optionalText({
    unit: 'text',
    about: 'Text that is put after the system message, or in its place; unset: none.',
  }),
  reasoning: choice(['drop', 'think'], {
    default: 'drop',
    about: 'What becomes of thoughts that the server gives apart: nothing, or text in think tags.',
  }),
  sendsSeed: flag({
    default: true,
    about: 'Whether requests carry a seed; equal tasks then differ by it, also in the cache.',
  }),
  maxImagePixels: optionalCount({
    min: 1,
    max: 1_000_000_000,
    unit: 'pixels',
    about: 'Larger images are shrunk to so many pixels before they are sent; unset: none is.',
  }),
  pixelsPerToken: count({
    min: 1,
    max: 1_000_000,
    default: 784,
    unit: 'pixels',
    about: 'Pixels of an image that count as one token of the context; 784 as in Qwen2.5-VL.',
  }),
  maxImageTokens: count({
    min: 1,
    max: 100_000,
    default: 1280,
    unit: 'tokens',
    about: 'Most tokens of the context that an image counts for.',
  }),
});

/** Options of `openChatPlayer`. Only `baseUrl` and `model` have to be given. */
export interface ChatPlayerOptions
  extends SettingsInput<typeof chatPlayerSettings>,
    Pick<ChatClientOptions, 'apiKey' | 'cache' | 'onRetry' | 'fetch'> {}

/** A sampler that asks a chat server. */
export interface ChatPlayer extends Sampler {
  readonly processor: ChatProcessor;
  /** What it has used so far. */
  usage(): ChatUsage;
  dispose(): Promise<void>;
}

/**
 * Opens a player. Its tokens hold text, four ASCII characters or one other character each, and that
 * is what budgets count; the server's own count is in `usage`. Log-probs are zeros: its trajectories
 * are marked `tokenSource: 'bytes'`, and packing them for training is refused.
 *
 * @throws ConfigError naming a setting that is out of range
 */
export async function openChatPlayer(options: ChatPlayerOptions): Promise<ChatPlayer> {
  const { apiKey, cache, onRetry, fetch, ...given } = options;
  const settings = readSettings('chat', chatPlayerSettings, given);
  const { cacheDirectory, instructions, reasoning, sendsSeed, ...rest } = settings;
  const { maxImagePixels, pixelsPerToken, maxImageTokens, ...chat } = rest;
  const kept = cache ?? (cacheDirectory === undefined ? undefined : diskReplyCache(cacheDirectory));
  const client = openChatClient({
    ...chat,
    ...(apiKey !== undefined && { apiKey }),
    ...(kept && { cache: kept }),
    ...(onRetry && { onRetry }),
    ...(fetch && { fetch }),
  });
  const processor = new ChatProcessor({
    ...{ pixelsPerToken, maxTokens: maxImageTokens },
    ...(maxImagePixels !== undefined && { maxPixels: maxImagePixels }),
  });
  const ended = new AbortController();
  return {
    version: 0,
    processor,
    async sample(request) {
      const { tokens, images, temperature, topP = 1, topK = 0, minP = 0, seed, stop } = request;
      const messages = processor.messagesOf(tokens, images);
      const signals = [request.signal, ended.signal].filter((one) => one !== undefined);
      const reply = await client.complete(
        {
          messages: instructed(messages, instructions),
          ...{ temperature, stop, maxTokens: request.maxTokens },
          ...(topP < 1 && { topP }),
          ...(topK > 0 && { topK }),
          ...(minP > 0 && { minP }),
          ...(sendsSeed && { seed: (seed[0] ^ seed[1]) >>> 1 }),
        },
        {
          signal: AbortSignal.any(signals),
          isEnough: (text) => stop.some((one) => text.includes(one)),
        },
      );
      return resultOf(reply, request, { processor, reasoning, name: client.name });
    },
    release() {},
    usage: () => client.usage(),
    async dispose() {
      ended.abort(new ChatError('refused', 'The player is disposed.', { isTransient: false }));
    },
  };
}

type Messages = ReturnType<ChatProcessor['messagesOf']>;

/** The messages with more instructions in the system's. */
function instructed(messages: Messages, text: string | undefined): Messages {
  if (text === undefined) return messages;
  const [first, ...rest] = messages;
  if (first?.role !== 'system') {
    return [{ role: 'system', parts: [{ kind: 'text', text }] }, ...messages];
  }
  return [{ ...first, parts: [...first.parts, { kind: 'text', text: `\n\n${text}` }] }, ...rest];
}

/** @throws ChatError if the server's rules cut the reply */
function resultOf(
  reply: ChatReply,
  { stop, maxTokens }: Pick<SampleRequest, 'stop' | 'maxTokens'>,
  by: {
    readonly processor: ChatProcessor;
    readonly reasoning: 'drop' | 'think';
    readonly name: string;
  },
): SampleResult {
  if (reply.finish === 'filtered') {
    throw new ChatError('refused', `${by.name}: the server's content filter cut the reply.`, {
      isTransient: false,
    });
  }
  const { text: said, finish } = ended(reply, stop);
  const isThought = by.reasoning === 'think' && reply.reasoning !== undefined;
  const text =
    isThought && !said.includes('<think>') ? `<think>${reply.reasoning}</think>\n${said}` : said;
  const whole = by.processor.encodeModelText(text, finish === 'endOfTurn' || text === '');
  // What is counted here may be a little more than what the server counted.
  const tokens = whole.length > maxTokens ? whole.slice(0, maxTokens) : whole;
  const isCut = tokens.length < whole.length;
  return {
    tokens,
    logprobs: new Float32Array(tokens.length),
    text: isCut ? by.processor.decode(tokens) : text,
    finish: isCut ? 'length' : finish,
    policyVersion: 0,
  };
}

/**
 * The text with the stop string that ended it, which servers leave out, and why it ended. A server
 * that does not tell the stop string has cut a text that leaves its tag open.
 */
function ended(
  reply: ChatReply,
  stop: readonly string[],
): { readonly text: string; readonly finish: SampleResult['finish'] } {
  const calls = reply.toolCalls.map(({ name, arguments: given }) => {
    return `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${given || '{}'}}\n</tool_call>`;
  });
  const text = [reply.text, ...calls].filter((part) => part !== '').join('\n');
  const ends = stop.flatMap((one) => {
    const at = text.indexOf(one);
    return at < 0 ? [] : [at + one.length];
  });
  if (ends.length > 0) return { text: text.slice(0, Math.min(...ends)), finish: 'stop' };
  if (reply.finish === 'length') return { text, finish: 'length' };
  const told = stop.find((one) => one === reply.stopString);
  const stopped = told ?? stop.find((one) => leavesOpen(text, one));
  return stopped === undefined
    ? { text, finish: 'endOfTurn' }
    : { text: text + stopped, finish: 'stop' };
}

/** Whether a text opens the tag that a stop string closes, and does not close it. */
function leavesOpen(text: string, stop: string): boolean {
  const name = /^<\/([\w-]+)>$/.exec(stop)?.[1];
  return name !== undefined && text.lastIndexOf(`<${name}>`) > text.lastIndexOf(stop);
}
