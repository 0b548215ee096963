export {
  type ChatPlayer,
  type ChatPlayerOptions,
  chatPlayerSettings,
  openChatPlayer,
} from './chat-player.ts';
export { ChatProcessor, type ReadTurn, readTurns } from './chat-processor.ts';
export { type Prompting, promptings, withPrompting } from './prompting.ts';
export { mark } from './text-tokens.ts';
