/** A model that answers messages with text. Judges need nothing else, so this is all they see. */

/** One part of a message: text, or an image as PNG bytes. */
export type ChatPart =
  | { readonly kind: 'text'; readonly text: string }
  /** PNG bytes. */
  | { readonly kind: 'image'; readonly png: Uint8Array };

/** One message of a conversation, as a list of texts and images. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly parts: readonly ChatPart[];
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
