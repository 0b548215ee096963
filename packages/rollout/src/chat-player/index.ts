export {
  type ChatPlayer,
  type ChatPlayerOptions,
  chatPlayerSettings,
  openChatPlayer,
} from './chat-player.ts';
export { type Prompting, promptings, withPrompting } from './prompting.ts';
