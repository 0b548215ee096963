/** Conversations with a model, and the one method that judges and filters need of it. */

/** One part of a message: text, or an encoded image. */
export type ChatPart =
  | { readonly kind: 'text'; readonly text: string }
  /** PNG, JPEG, WebP or GIF bytes. */
  | { readonly kind: 'image'; readonly png: Uint8Array };

/** A call of a tool as a model made it. */
export interface ChatToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it; it may not parse. */
  readonly arguments: string;
}

/** One message of a conversation, as a list of texts and images. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly parts: readonly ChatPart[];
  /** Calls that the assistant made in this message. */
  readonly toolCalls?: readonly ChatToolCall[];
  /** The call that a `tool` message answers. */
  readonly toolCallId?: string;
}

/** A tool that the model may call: its name, and a JSON schema of its arguments. */
export interface ChatTool {
  readonly name: string;
  readonly description?: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** How one reply is sampled. */
export interface ChatOptions {
  readonly temperature: number;
  /** Longest reply, tokens. */
  readonly maxTokens: number;
  /** Ends the call; the promise then rejects. */
  readonly signal?: AbortSignal;
}

/**
 * A model that answers a conversation with text. `openAiChat` reaches one over HTTP; any other
 * transport is an object with this one method.
 */
export interface ChatModel {
  /** The model and its location, where replies depend on them: part of the reply cache's key. */
  readonly name: string;
  /** @throws ChatError, or whatever the transport throws */
  reply(messages: readonly ChatMessage[], options: ChatOptions): Promise<string>;
}
