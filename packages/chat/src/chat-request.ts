/** A request for one reply, and its body in the words of OpenAI's API. */
import type { ChatMessage, ChatPart, ChatTool } from './chat-model.ts';

/** A conversation, and how its next message is sampled. Fields that are left out are not sent. */
export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ChatTool[];
  readonly temperature?: number;
  readonly topP?: number;
  /** Not every server knows it. */
  readonly topK?: number;
  /** Not every server knows it. */
  readonly minP?: number;
  /** Longest reply, tokens. */
  readonly maxTokens?: number;
  /** The reply ends before the first of these; most servers take four. */
  readonly stop?: readonly string[];
  readonly seed?: number;
  /** More fields of the body, such as `reasoning_effort`. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** The name of the field that bounds a reply: OpenAI's reasoning models refuse the older one. */
export type MaxTokensField = 'max_tokens' | 'max_completion_tokens';

/** The body of a request, without what only says how it is delivered. */
export function bodyOf(
  request: ChatRequest,
  model: string,
  maxTokensField: MaxTokensField,
): Readonly<Record<string, unknown>> {
  const { messages, tools = [], stop = [], maxTokens, temperature, seed } = request;
  const { topP, topK, minP, extra } = request;
  return {
    model,
    messages: messages.map(messageOf),
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(topK !== undefined && { top_k: topK }),
    ...(minP !== undefined && { min_p: minP }),
    ...(maxTokens !== undefined && { [maxTokensField]: maxTokens }),
    ...(stop.length > 0 && { stop }),
    ...(seed !== undefined && { seed }),
    ...extra,
  };
}

function messageOf({ role, parts, toolCalls = [], toolCallId }: ChatMessage): object {
  const calls = toolCalls.map(({ id, name, arguments: given }) => ({
    ...{ id, type: 'function' },
    function: { name, arguments: given },
  }));
  return {
    role,
    content: contentOf(parts, role),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
  };
}

/** A system or assistant message is one text, which every server reads; others are lists of parts. */
function contentOf(parts: readonly ChatPart[], role: ChatMessage['role']): unknown {
  const isText = parts.every(({ kind }) => kind === 'text');
  if (isText && role === 'assistant') {
    return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  }
  return parts.map(partOf);
}

function partOf(part: ChatPart): object {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  return { type: 'image_url', image_url: { url: dataUrl(part.png) } };
}

/** A `data:` URL of an encoded image; its type is read from its first bytes. */
export function dataUrl(encoded: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < encoded.length; at += 0x8000) {
    binary += String.fromCharCode(...encoded.subarray(at, at + 0x8000));
  }
  return `data:image/${typeOf(encoded)};base64,${btoa(binary)}`;
}

function typeOf([first, second, third]: Uint8Array): string {
  if (first === 0xff && second === 0xd8) return 'jpeg';
  if (first === 0x47 && second === 0x49 && third === 0x46) return 'gif';
  return first === 0x52 && second === 0x49 ? 'webp' : 'png';
}
