/** A model whose replies are given: for trying a judge out, and for tests of what uses one. */
import type { ChatMessage, ChatModel } from './chat-model.ts';

/** Gives the reply to some messages; `call` counts the calls from 0. */
export type Script = (messages: readonly ChatMessage[], call: number) => string | Promise<string>;

/** A `ChatModel` with given replies, which records what it was asked. */
export interface ScriptedChat extends ChatModel {
  /** The messages of each request, in order. */
  readonly asked: readonly (readonly ChatMessage[])[];
}

/** A `ChatModel` whose replies come from a function, to try a judge without a server. */
export function scriptedChat(script: Script, name = 'scripted'): ScriptedChat {
  const asked: (readonly ChatMessage[])[] = [];
  return {
    name,
    asked,
    async reply(messages) {
      asked.push(messages);
      return script(messages, asked.length - 1);
    },
  };
}

/** All text of some messages, for looking at. */
export function textOf(messages: readonly ChatMessage[]): string {
  return messages
    .flatMap(({ parts }) => parts.map((part) => (part.kind === 'text' ? part.text : '[image]')))
    .join('\n');
}
