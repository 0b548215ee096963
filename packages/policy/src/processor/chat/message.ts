/** The messages of a conversation, and the form in which chat templates take them. */
import type { ModelImage } from '../../batch.ts';
import type { ContentPart } from '../../content.ts';
import type { Json } from '../json-fields.ts';
import type { TemplateMessage } from './chat-template.ts';

/** A call that an assistant made. */
export interface ChatToolCall {
  readonly name: string;
  /** An object, or its JSON as the model wrote it. */
  readonly arguments: Json | string;
}

/** One message of a conversation. */
export interface ChatMessage {
  /** `system`, `user`, `assistant`, `tool`, or another role that the template knows. */
  readonly role: string;
  readonly content: string | readonly ContentPart[];
  /** Calls of an assistant. */
  readonly toolCalls?: readonly ChatToolCall[];
  /** An assistant's thoughts, where a template shows them apart (`reasoning_content`). */
  readonly reasoning?: string;
}

/** The message with the names that templates use; an image is its place alone. */
export function templateMessage(message: ChatMessage): TemplateMessage {
  const { role, content, toolCalls, reasoning } = message;
  return {
    role,
    content: typeof content === 'string' ? content : content.map(templatePart),
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(toolCalls !== undefined && {
      tool_calls: toolCalls.map((call) => ({ type: 'function', function: { ...call } })),
    }),
  };
}

function templatePart(part: ContentPart): Json {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  return { type: part.image.video === undefined ? 'image' : 'video' };
}

/** The images of messages in order, videos among them. */
export function imagesOf(messages: readonly ChatMessage[]): ModelImage[] {
  return messages
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .flatMap((part) => (part.kind === 'image' ? [part.image] : []));
}

/** A JSON value with `change` applied to each text in it, names of fields included. */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  const visit = (one: unknown): unknown => {
    if (typeof one === 'string') return change(one);
    if (Array.isArray(one)) return one.map(visit);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, of]) => [change(key), visit(of)]));
  };
  return visit(value) as T;
}

/** All texts in a JSON value, names of fields included. */
export function textsOf(value: unknown): string[] {
  const texts: string[] = [];
  mapTexts(value, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}
