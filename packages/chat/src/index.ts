export {
  type ChatClient,
  type ChatClientOptions,
  chatModel,
  type Delivery,
  openAiChat,
  openChatClient,
  type ReplyCache,
} from './chat-client.ts';
export { ChatError, type ChatFault } from './chat-error.ts';
export type {
  ChatMessage,
  ChatModel,
  ChatOptions,
  ChatPart,
  ChatTool,
  ChatToolCall,
} from './chat-model.ts';
export type { ChatFinish, ChatReply, TokenCounts } from './chat-reply.ts';
export { type ChatRequest, dataUrl } from './chat-request.ts';
export { type Script, type ScriptedChat, scriptedChat, textOf } from './scripted-chat.ts';
export { type ChatSettings, chatSettings } from './settings.ts';
export type { ChatUsage } from './usage.ts';
