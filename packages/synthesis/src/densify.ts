/** Fuller thoughts for kept trajectories: actions and observations stay as they are. */
import type { ChatModel, ChatPart } from '@saccade/chat';
import { messagesOf } from '@saccade/data/formats';
import type { Protocol, Task } from '@saccade/gym';
import type { Message, Trajectory } from '@saccade/trajectory';
import { densifyPrompt } from './prompts.ts';

/** What densification is given. */
export interface DensifyOptions {
  readonly model: ChatModel;
  readonly protocol: Pick<Protocol, 'parse' | 'write'>;
  /** Longest thought, tokens. */
  readonly maxTokens: number;
  readonly signal?: AbortSignal;
}

/** The messages of a trajectory with fuller thoughts, and how much they grew. */
export interface Densified {
  readonly messages: readonly Message[];
  /** Characters of thoughts before and after. */
  readonly before: number;
  readonly after: number;
  /** Turns that kept their thought: the new one was empty, or changed what the turn does. */
  readonly unchanged: number;
}

/**
 * Writes the thought of every turn again (VISTA-R1, arXiv:2511.19773, §5.1). A turn whose new text would
 * not be read as the same action keeps its own.
 *
 * @throws ChatError if the model gives no reply
 */
export async function densify(
  task: Task,
  trajectory: Trajectory,
  { model, protocol, maxTokens, signal }: DensifyOptions,
): Promise<Densified> {
  const messages: Message[] = [];
  let [before, after, unchanged] = [0, 0, 0];
  for (const message of messagesOf(trajectory)) {
    if (message.role !== 'assistant') {
      messages.push(message);
      continue;
    }
    const said = textOf(message);
    const action = protocol.parse(said);
    const thought = thoughtIn(said);
    const options = { temperature: 0, maxTokens, ...(signal && { signal }) };
    const seen = messages.flatMap(partsOf);
    const reply = await model.reply(
      densifyPrompt(task, seen, thought, JSON.stringify(action)),
      options,
    );
    const fuller = reply.replace(/<\/?[\w-]+>/g, '').trim();
    const text = action.kind === 'invalid' ? said : protocol.write(action, fuller);
    const isSame = JSON.stringify(protocol.parse(text)) === JSON.stringify(action);
    const isFuller = fuller.length > thought.length && isSame && action.kind !== 'invalid';
    if (!isFuller) unchanged++;
    before += thought.length;
    after += isFuller ? fuller.length : thought.length;
    messages.push({ ...message, content: isFuller ? text : said });
  }
  return { messages, before, after, unchanged };
}

function textOf({ content }: Message): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function partsOf({ content }: Message): readonly ChatPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  return (content ?? []).map(
    (part): ChatPart =>
      part.type === 'image'
        ? { kind: 'image', png: part.image }
        : { kind: 'text', text: part.type === 'text' ? part.text : '' },
  );
}

/** What a turn says before it acts. */
function thoughtIn(text: string): string {
  const tagged = /<think>([\s\S]*?)<\/think>/.exec(text)?.[1];
  if (tagged !== undefined) return tagged.trim();
  return text.split(/<code>|<tool_call>|<answer>|```/)[0]?.trim() ?? '';
}
