/** Chat messages, in the words of OpenAI's API, which TRL and engines also use. */
import type { ToolResult, TrajectoryImage } from './trajectory.ts';

/** One part of a message: text, or an image as PNG bytes or as a data URL. */
export type MessagePart =
  | { readonly type: 'text'; readonly text: string }
  /** PNG bytes. */
  | ({ readonly type: 'image'; readonly image: Uint8Array } & NamedImage)
  /** `data:image/png;base64,…` */
  | ({
      readonly type: 'image_url';
      readonly image_url: { readonly url: string };
    } & NamedImage);

/** What the bare bytes of an image do not tell. */
interface NamedImage {
  /** Its variable in the runtime. Default `image_0`, `image_1`, … in order. */
  readonly name?: string;
  readonly origin?: TrajectoryImage['origin'];
}

/** A call in a message of the assistant. */
export interface MessageToolCall {
  /** Which tool message answers it; without one, they answer in order. */
  readonly id?: string;
  readonly function: {
    readonly name: string;
    /** An object, or its JSON. */
    readonly arguments: string | Readonly<Record<string, unknown>>;
  };
}

/** One message of a conversation. */
export interface Message {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content?: string | readonly MessagePart[] | null;
  /** Calls of the assistant; each becomes a turn. */
  readonly tool_calls?: readonly MessageToolCall[] | null;
  /** The call that a tool message answers. */
  readonly tool_call_id?: string;
  /** How the call or the code before it ended. Default: `ok`, with the text as its stdout. */
  readonly result?: Partial<ToolResult>;
}

/** The text of a message, its parts joined; images leave nothing. */
export function messageText({ content }: Message): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
}
