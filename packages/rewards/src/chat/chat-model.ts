/** A model that answers messages with text. Judges need nothing else, so this is all they see. */

export type ChatPart =
  | { readonly kind: 'text'; readonly text: string }
  /** PNG bytes. */
  | { readonly kind: 'image'; readonly png: Uint8Array };

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly parts: readonly ChatPart[];
}

export interface ChatOptions {
  readonly temperature: number;
  /** Longest reply, tokens. */
  readonly maxTokens: number;
  /** Ends the call; the promise then rejects. */
  readonly signal?: AbortSignal;
}

export interface ChatModel {
  /** Which model and where, as far as its replies depend on it: part of the key of cached replies. */
  readonly name: string;
  /** @throws ChatError, or whatever the transport throws */
  reply(messages: readonly ChatMessage[], options: ChatOptions): Promise<string>;
}
